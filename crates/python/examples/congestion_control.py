"""A congestion control of one's own: Reno, asked once a round, and as a rule that grows the window with each ACK, against the built-in one."""

import longhaul
from longhaul import Controller, Rule


class Reno(Controller):
    """RFC 5681 by a window that is set each round; it opens with the ACKs of the next."""

    def start(self, report):
        return Rule(window=2 * report.window)

    def round(self, report):
        if report.in_slow_start:
            return Rule(window=min(2 * report.window, report.ssthresh or 2 * report.window))
        return Rule(window=report.window + report.mss)

    def loss(self, report):
        half = max(report.outstanding // 2, 2 * report.mss)
        return Rule(window=half, ssthresh=half)

    def timeout(self, report):
        ssthresh = max(report.outstanding // 2, 2 * report.mss) if report.first else None
        return Rule(window=report.mss, ssthresh=ssthresh)


class RenoByRule(Controller):
    """The same as a rule that is installed once. Losses and timeouts get the response of RFC 5681, which is the usual one."""

    def start(self, report):
        return Rule(slow_start=1, avoidance=report.mss, most_per_ack=2 * report.mss)

    def timeout(self, report):
        return Rule(most_per_ack=report.mss)


reno = {"cc.slow_start.kind": "classic", "cc.avoidance.kind": "reno"}
experiment = (
    longhaul.Experiment.builtin("wan")
    .with_arms("rfc")
    .sweep({f"rfc.{leaf}": value for leaf, value in reno.items()})
    .sweep(path={"rtt": ["25ms", "100ms"]}, flow={"bytes": "32MB"})
    .with_controller("by-round", Reno)
    .with_controller("by-rule", RenoByRule)
)
rows = experiment.run(iterations=2).rows
for swept, arm, goodput, ratio in zip(rows["swept"], rows["arm"], rows["goodput_mbps"], rows["ratio"]):
    print(f"{swept.split()[0]} {arm}: {goodput:.1f} Mbit/s" + ("" if ratio is None else f", {ratio:.3f} of the built-in one"))

# It prints:
#>  path.rtt=25ms rfc: 92.8 Mbit/s
#>  path.rtt=25ms by-round: 93.0 Mbit/s, 1.002 of the built-in one
#>  path.rtt=25ms by-rule: 92.8 Mbit/s, 1.000 of the built-in one
#>  path.rtt=100ms rfc: 76.9 Mbit/s
#>  path.rtt=100ms by-round: 77.6 Mbit/s, 1.009 of the built-in one
#>  path.rtt=100ms by-rule: 76.9 Mbit/s, 1.000 of the built-in one
