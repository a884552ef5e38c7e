"""Compare TCPs over emulated paths, from Python.

    import longhaul

    results = longhaul.Experiment.builtin("wan").set("flow.bytes", "4MB").run(iterations=10)
    results.rows["goodput_mbps"]

Tables speak Arrow: ``polars.DataFrame(results.runs)``, ``pyarrow.table(results.runs)``.
"""

from longhaul._native import (
    Error,
    Experiment,
    Interrupted,
    Leaf,
    Profile,
    Results,
    SpecError,
    StoreError,
    Table,
    __version__,
    builtins,
    profile,
    profiles,
)

__all__ = [
    "Error",
    "Experiment",
    "Interrupted",
    "Leaf",
    "Profile",
    "Results",
    "SpecError",
    "StoreError",
    "Table",
    "__version__",
    "builtins",
    "profile",
    "profiles",
]
