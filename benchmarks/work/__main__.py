"""`python -m benchmarks.work`: the work of a warm request, a tool turn and a chunk at each door.

Counts calls by module, tasks and callbacks of the event loop, reads, writes and bytes of sockets, and
statements of the database, on SQLite, without a clock. A chunk is a tenth of the difference between
answers of 11 tokens and of 1; a tool turn is the difference that one tool call makes. With
`--record`, writes the budgets that `tests/benchmarks/test_work.py` enforces; with `--check`, compares
with them, and the exit status is 1 if a count exceeds its budget by more than 5 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.processes import free_port
from benchmarks.systems import shipped
from benchmarks.work.budgets import excesses, read_budgets, write_budgets
from benchmarks.work.counting import PER_UNIT
from benchmarks.work.doors import DOORS, PAGE_DOOR, REDIS, UPSTREAM
from tests.services import absence

UNITS = ("request", "tool turn", "chunk")
Found = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the budgets")
    parser.add_argument("--page", action="store_true", help="count the page, too")
    parser.add_argument("--check", action="store_true", help="compare with the budgets")
    parser.add_argument("--modules", type=int, default=25, help="rows of the second table")
    parser.add_argument("--json", type=Path, help="write all counts here")
    given = parser.parse_args()
    if given.record and (reason := absence("redis")):
        parser.error(reason)
    with tempfile.TemporaryDirectory() as folder:
        found = count_all(Path(folder), (PAGE_DOOR,) if given.page else ())
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    if given.record:
        write_budgets(found)
    print("\n".join([*work_table(found), "", *module_table(found, given.modules)]))
    exceeded = excesses(found, read_budgets()) if given.check else []
    print("\n".join(["", *exceeded]))
    return 1 if exceeded else 0


def count_all(folder: Path, more: tuple[Any, ...] = ()) -> Found:
    """Count the work at each door by unit. Doors with the same settings share a process. Without
    Redis, the door that needs it is omitted."""
    present = [
        door for door in (*DOORS, *more) if door.settings is not REDIS or not absence("redis")
    ]
    port = free_port()
    upstream = f"http://127.0.0.1:{port}"
    settings = shipped.environment(folder, f"{upstream}/v1", 1)
    key = shipped.prepare(settings)
    found: Found = {}
    for own, doors in groupby(present, key=lambda door: door.settings):
        filled = {name: value.replace(UPSTREAM, upstream) for name, value in own.items()}
        # The seed determines the order of sets, which changes how early a search in one ends.
        environment = {**settings, **filled, "PYTHONHASHSEED": "0"}
        names = [door.name for door in doors]
        command = ["-m", "benchmarks.work.site", str(port), key, *names]
        found |= json.loads(shipped.run(command, environment))
    return {door.name: found[door.name] for door in present}


def work_table(found: Found) -> list[str]:
    lines = [f"| door | unit | {' | '.join(PER_UNIT)} |", "|---|---|" + "---|" * len(PER_UNIT)]
    for door, units in found.items():
        for unit in UNITS:
            counts = " | ".join(f"{units[unit][name]:.5g}" for name in PER_UNIT)
            lines.append(f"| {door} | {unit} | {counts} |")
    held = (f"{door} {units['held'] / 1024:.1f} KiB" for door, units in found.items())
    return [*lines, "", f"Memory of a held stream: {', '.join(held)}"]


def module_table(found: Found, rows: int) -> list[str]:
    """Return the calls by module of a request, a tool turn and a chunk, as `1/2/3`."""
    modules = {
        name for units in found.values() for unit in UNITS for name in units[unit]["modules"]
    }

    def calls(door: str, module: str) -> list[float]:
        return [found[door][unit]["modules"].get(module, 0) for unit in UNITS]

    most = sorted(modules, key=lambda module: -max(max(calls(door, module)) for door in found))
    lines = [f"| module | {' | '.join(found)} |", "|---|" + "---|" * len(found)]
    for module in most[:rows]:
        cells = ["/".join(f"{count:.5g}" for count in calls(door, module)) for door in found]
        lines.append(f"| {module} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
