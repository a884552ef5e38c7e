"""A network engineer: a path of our own, the hosts that use it, and what a loss of one packet in a thousand costs."""

import duckdb
import longhaul

path = {
    "summary": "Backups to the other site",
    "path": {"rate": "50Mbit", "rtt": "80ms", "buffer": "1MB"},
    "flow": {"bytes": "8MB"},
    "arms": {"use": ["server-2016", "server-2022", "linux"]},
    "sweep": {"path.loss": [0, 0.001]},
    "run": {"iterations": 10},
}
results = longhaul.Experiment.from_dict(path, name="backup").run(out="backup")
runs = results.runs
for arm, loss, seconds in duckdb.sql(
    "select arm, path_loss_pct, median(elapsed_ns) / 1e9 from runs group by all order by arm, path_loss_pct"
).fetchall():
    print(f"{arm} with {loss} % lost: {seconds:.1f} s")

# It prints:
#>  linux with 0.0 % lost: 1.8 s
#>  linux with 0.1 % lost: 2.7 s
#>  server-2016 with 0.0 % lost: 2.2 s
#>  server-2016 with 0.1 % lost: 7.1 s
#>  server-2022 with 0.0 % lost: 1.8 s
#>  server-2022 with 0.1 % lost: 1.9 s
