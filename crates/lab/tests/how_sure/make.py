"""Makes the data of ../how_sure.rs: pools of goodputs, and probabilities by scipy and statsmodels.

    longhaul ab wan --arms linux --iterations 100 --set path.rate=10Mbit,20Mbit,50Mbit \
        --set path.loss=0.05%,0.1%,0.2%,0.3%,1% --set path.rtt=10ms,30ms,60ms,120ms --set flow.bytes=2MB,8MB --out runs
    pip install scipy==1.17.1 statsmodels==0.15.0
    python make.py runs/runs.jsonl

Pools are the first forty cells whose goodput has a quartile spread of 3 to 30 % of its median.
"""

import json
import math
import random
import statistics
import sys
from collections import defaultdict

from scipy.stats import PermutationMethod, binom, mannwhitneyu, norm, wilcoxon
from statsmodels.stats.multitest import multipletests

POOLS = 40


def pools(path):
    cells = defaultdict(list)
    for line in open(path):
        run = json.loads(line)
        cells[run["path"]].append((run["iteration"], run["bytes"] * 8000 / run["elapsed_ns"]))
    found = []
    for runs in cells.values():
        goodputs = [goodput for _, goodput in sorted(runs)]
        low, middle, high = statistics.quantiles(goodputs, n=4)
        if 0.03 <= (high - low) / middle <= 0.30:
            found.append(goodputs)
    assert len(found) >= POOLS, len(found)
    with open("pools.txt", "w") as out:
        for goodputs in found[:POOLS]:
            out.write(" ".join(f"{goodput:.6g}" for goodput in goodputs) + "\n")


def sign_rank(n):
    rank = 0
    while binom.cdf(rank, n, 0.5) <= 0.025:
        rank += 1
    return rank


def runs_for(effect, log_sd, band, power):
    """Runs from which a sign test's interval is clear of the band with this probability, at the first such number."""
    above = norm.sf((math.log(band) - math.log(effect)) / (log_sd * math.sqrt(2)))
    return next(n for n in range(6, 5000) if sign_rank(n) and binom.sf(n - sign_rank(n), n, above) >= power)


def vectors():
    rng = random.Random(7)
    out = {"signed_rank": [], "rank_sum": [], "holm": []}
    exhaustive = PermutationMethod(n_resamples=10**9)
    for n in (6, 8, 10, 12):
        for shift in (0.0, 0.05):
            ratios = [round(math.exp(rng.gauss(shift, 0.1)), 4) for _ in range(n)]
            logs = [math.log(ratio) for ratio in ratios]
            out["signed_rank"].append({"ratios": ratios, "p": float(wilcoxon(logs, method="exact").pvalue)})
    # Ties: distances that are equal, and ratios of one, which are left out.
    tied = [1.25, 0.8, 1.25, 1.25, 1.5, 1.0, 1.1, 0.5, 1.1, 1.0]
    logs = [round(math.log(ratio), 9) for ratio in tied if ratio != 1.0]
    out["signed_rank"].append({"ratios": tied, "p": float(wilcoxon(logs, method=exhaustive).pvalue)})
    many = [round(math.exp(rng.gauss(0.02, 0.1)), 4) for _ in range(150)]
    logs = [math.log(ratio) for ratio in many if ratio != 1.0]
    out["signed_rank"].append({"ratios": many, "p": float(wilcoxon(logs, method="approx", correction=False).pvalue)})
    for n in (6, 9, 20):
        one = [round(rng.gauss(10, 1), 3) for _ in range(n)]
        other = [round(rng.gauss(10.5, 1), 3) for _ in range(n)]
        out["rank_sum"].append({"one": one, "other": other, "p": float(mannwhitneyu(one, other, method="exact").pvalue)})
    one, other = [1, 2, 2, 3, 5, 5], [2, 4, 5, 6, 6, 7]
    p = float(mannwhitneyu(one, other, method=exhaustive).pvalue)
    out["rank_sum"].append({"one": one, "other": other, "p": p})
    one = [round(rng.gauss(10, 1), 1) for _ in range(60)]
    other = [round(rng.gauss(10.3, 1), 1) for _ in range(60)]
    p = float(mannwhitneyu(one, other, method="asymptotic", use_continuity=False).pvalue)
    out["rank_sum"].append({"one": one, "other": other, "p": p})
    for n in (1, 5, 40):
        p_values = [round(rng.random() ** 3, 6) for _ in range(n)]
        adjusted = [float(p) for p in multipletests(p_values, method="holm")[1]]
        out["holm"].append({"p": p_values, "adjusted": adjusted})
    out["runs_for_three_per_cent"] = runs_for(1.03, 0.05, 1.01, 0.8)
    with open("vectors.json", "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


pools(sys.argv[1])
vectors()
