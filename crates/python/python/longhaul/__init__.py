"""Compare TCPs over emulated paths, from Python.

    import longhaul

    results = longhaul.Experiment.builtin("wan").set("flow.bytes", "4MB").run(iterations=10)
    results.rows["goodput_mbps"]

Tables speak Arrow: ``polars.DataFrame(results.runs)``, ``pyarrow.table(results.runs)``.
"""

from longhaul._controller import Controller
from longhaul._native import (
    ControllerError,
    Error,
    Experiment,
    Interrupted,
    Leaf,
    Profile,
    Report,
    Results,
    Rule,
    SpecError,
    StoreError,
    Table,
    __version__,
    builtins,
    profile,
    profiles,
)

__all__ = [
    "Controller",
    "ControllerError",
    "Error",
    "Experiment",
    "Interrupted",
    "Leaf",
    "Profile",
    "Report",
    "Results",
    "Rule",
    "SpecError",
    "StoreError",
    "Table",
    "__version__",
    "builtins",
    "profile",
    "profiles",
]
