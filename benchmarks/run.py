"""Compare the shipped site with the peer and the floor.

    python -m benchmarks.run

The servers share one core, and the model and the clients share another. All systems keep running,
and each round measures them in random order, so that disturbances affect all of them equally. The
exit status is 1 if an answer had an error, if the control shows that the run is not reliable, or if
a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvloop

from benchmarks import measures, report
from benchmarks.measures import Effort
from benchmarks.processes import Process, free_port
from benchmarks.systems.starts import LOAD_CORE, Start, run_module, starts_of, tool_of

GOOD = {False: "All goals are reached.", True: "No answer had an error."}

Figures = dict[str, list[dict[str, float]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a minute; judges errors alone")
    parser.add_argument("--rounds", type=int, help="instead of 5")
    parser.add_argument("--only", nargs="*", help="names of systems, beside the peer")
    parser.add_argument("--json", type=Path, help="write the figures of every round here")
    given = parser.parse_args()
    effort = measures.SMOKE if given.smoke else measures.FULL
    rounds = given.rounds or effort.rounds
    allow_many_connections()
    os.sched_setaffinity(0, {LOAD_CORE})
    with tempfile.TemporaryDirectory() as folder:
        found, errors = uvloop.run(measure_all(effort, rounds, Path(folder), given.only))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    print(report.table(found))
    verdict = [f"error: {error}" for error in errors]
    if not given.smoke:
        verdict += [*report.out_of_band(found), *report.missed(found)]
    print("\n".join(["", *verdict]) if verdict else f"\n{GOOD[given.smoke]}")
    return 1 if verdict else 0


def allow_many_connections() -> None:
    """Raise the limit of open files, which the servers inherit. A held stream needs two files of
    its server."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def measure_all(
    effort: Effort, rounds: int, folder: Path, only: list[str] | None
) -> tuple[Figures, list[str]]:
    """Return the measures of each round by system, and the errors."""
    errors: list[str] = []
    with ExitStack() as stack:
        port = free_port()
        stack.enter_context(stopped(run_module("fake_llm", port, core=LOAD_CORE)))
        starts = starts_of(folder, port)
        kept = {report.PEER, report.CONTROL, *only} if only else starts.keys() - {report.DOCUMENTED}
        starts = {name: begin for name, begin in starts.items() if name in kept}
        systems = [begin() for begin in starts.values()]
        for system in systems:
            stack.enter_context(stopped(system.process))
        found: Figures = {system.name: [] for system in systems}
        for system in systems:
            await measures.warm_up(system, tool_of(system))
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
            direct = await measures.direct(port, effort)
            for system in random.sample(systems, len(systems)):
                found[system.name].append(
                    await measures.measure(system, tool_of(system), effort, direct, errors)
                )
        for name, begin in starts.items():
            print(f"memory of {name}", file=sys.stderr)
            try:
                found[name][0]["memory"] = await measure_memory(begin, effort)
            except Exception as error:  # noqa: BLE001 - what was measured before is printed
                errors.append(f"memory of {name}: {error!r}")
    return found, errors


async def measure_memory(begin: Start, effort: Effort) -> float:
    """Measure in a new process, because a process keeps its memory after a burst."""
    system = begin()
    with stopped(system.process):
        return await measures.hold(system, effort.held, effort.held_ms)


@contextmanager
def stopped(process: Process) -> Iterator[None]:
    try:
        yield
    finally:
        process.stop()


if __name__ == "__main__":
    sys.exit(main())
