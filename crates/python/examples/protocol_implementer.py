"""An implementer: what the floor of the retransmission timeout costs when the last segments of a transfer are lost."""

import longhaul

floor = longhaul.profile("server-2016").leaves["rto.min"]
print(f"{floor.path} of server-2016 is {floor.value} ({floor.confidence})")
experiment = longhaul.Experiment.from_dict(
    {
        "summary": "A higher floor of the retransmission timeout, where the last three segments are lost",
        "path": {"rate": "100Mbit", "rtt": "40ms", "jitter": "1ms", "drop": "last 3"},
        "flow": {"bytes": "300kB"},
        "arms": {"use": ["server-2016", "higher"], "higher": {"profile": "server-2016", "set": {"rto.min": "1s"}}},
        "run": {"iterations": 20},
    }
)
results = experiment.run()
rows = results.rows
for arm, timeouts, repair in zip(rows["arm"], rows["rtos"], rows["repair_rtts"]):
    print(f"{arm}: {timeouts:.1f} timeouts a run, repair takes {repair:.1f} round trips")
verdict = results.compare("server-2016", "higher", metric="elapsed_ms")
print(f"time taken: {verdict['ratio'][0]:.2f} of server-2016's, {verdict['verdict'][0]}")

# It prints:
#>  rto.min of server-2016 is 300ms (inferred)
#>  server-2016: 1.0 timeouts a run, repair takes 11.6 round trips
#>  higher: 1.0 timeouts a run, repair takes 29.1 round trips
#>  time taken: 1.91 of server-2016's, worse
