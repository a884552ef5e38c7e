"""A researcher: which slow start fills a long path soonest, and how sure is that?"""

import longhaul
import polars

experiment = (
    longhaul.Experiment.builtin("wan")
    .with_arms("rfc", "linux", "longhaul")
    .sweep(path={"rtt": ["100ms", "200ms"], "jitter": "2ms"}, flow={"bytes": "4MB"})
)
results = experiment.run(iterations=20)
rows = polars.DataFrame(results.rows).select("swept", "arm", "goodput_mbps", "ratio", "ratio_lo", "ratio_hi", "verdict")
for swept, arm, goodput, ratio, low, high, verdict in rows.iter_rows():
    against = "" if ratio is None else f"{ratio:.2f} [{low:.2f}, {high:.2f}] {verdict}"
    print(f"{swept.split()[0]} {arm}: {goodput:.0f} Mbit/s {against}".rstrip())

# It prints:
#>  path.rtt=100ms rfc: 28 Mbit/s
#>  path.rtt=100ms linux: 31 Mbit/s 1.11 [1.10, 1.13] better
#>  path.rtt=100ms longhaul: 37 Mbit/s 1.35 [1.29, 1.37] better
#>  path.rtt=200ms rfc: 15 Mbit/s
#>  path.rtt=200ms linux: 16 Mbit/s 1.11 [1.10, 1.12] better
#>  path.rtt=200ms longhaul: 21 Mbit/s 1.44 [1.42, 1.45] better
