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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvloop

from benchmarks import measures, report
from benchmarks.measures import Effort, System
from benchmarks.processes import Process, free_port, start
from benchmarks.systems import shipped

TOOL = "internal_timeawareness_current_timestamp"
PATH = "/openai/deployments/{}/chat/completions"
DIAL_PATH = PATH.format("quick_apps2")
DIAL_KEY = "0123456789abcdefghijABCDEFGHIJ-_"
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = CORES[0], CORES[-1]

GOOD = {False: "All goals are reached.", True: "No answer had an error."}

Start = Callable[[], System]
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


def tool_of(system: System) -> str:
    return "" if system.name == report.FLOOR else TOOL


def starts_of(folder: Path, upstream_port: int) -> dict[str, Start]:
    """Return how each system is started, and create the site's database."""
    core = f"http://127.0.0.1:{upstream_port}"
    upstream = f"{core}/v1"
    key = shipped.prepare(shipped.environment(folder, upstream, 1))

    def peer(name: str) -> System:
        port = free_port()
        given = {"BENCH_UPSTREAM": upstream, "BENCH_TOOL": TOOL}
        process = start(
            uvicorn("benchmarks.systems.peer:app", port),
            port=port,
            core=SERVER_CORE,
            environment=given,
        )
        return System(name, process, PATH.format(shipped.SLUG), "key")

    def peer_behind(name: str, careful: str) -> System:
        port = free_port()
        process = start(
            uvicorn("benchmarks.systems.peer_behind_core:app", port),
            port=port,
            core=SERVER_CORE,
            environment={"BENCH_CORE": core, "BENCH_CAREFUL": careful, "BENCH_TOOL": TOOL},
        )
        return System(name, process, PATH.format("bench"), DIAL_KEY, application="kept")

    def floor() -> System:
        port = free_port()
        process = run_module(
            "systems.floor", port, "--upstream-port", str(upstream_port), core=SERVER_CORE
        )
        return System(report.FLOOR, process, "/v1/chat/completions", "")

    def site(name: str, *, core: str = "", slug: str = "bench", metrics: str = "") -> System:
        """Return the site. With `core`, the address of DIAL Core, requests arrive as Core sends
        them."""
        port = free_port()
        process = start(
            ["-m", "quickapps_site.serve"],
            port=port,
            core=SERVER_CORE,
            environment={
                **shipped.environment(folder, upstream, port),
                **shipped.behind(core),
                **shipped.previewing(slug),
                "METRICS": metrics,
            },
        )
        if core:
            return System(name, process, DIAL_PATH, DIAL_KEY, application="kept")
        return System(name, process, PATH.format(slug), key)

    return {
        report.PEER: lambda: peer(report.PEER),
        report.CONTROL: lambda: peer(report.CONTROL),
        report.FLOOR: floor,
        report.SITE: lambda: site(report.SITE),
        report.MEASURED: lambda: site(report.MEASURED, metrics="true"),
        report.CAREFUL: lambda: peer_behind(report.CAREFUL, "1"),
        report.DOCUMENTED: lambda: peer_behind(report.DOCUMENTED, ""),
        report.BEHIND: lambda: site(report.BEHIND, core=core),
        report.CONTENT: lambda: site(report.CONTENT, slug=shipped.CONTENT_SLUG),
    }


def uvicorn(application: str, port: int) -> list[str]:
    options = ["--host", "127.0.0.1", "--port", str(port), "--backlog", "4096"]
    return ["-m", "uvicorn", application, *options, "--no-access-log", "--log-level", "warning"]


def run_module(module: str, port: int, *options: str, core: int) -> Process:
    command = ["-m", f"benchmarks.{module}", "--port", str(port), *options]
    return start(command, port=port, core=core)


@contextmanager
def stopped(process: Process) -> Iterator[None]:
    try:
        yield
    finally:
        process.stop()


if __name__ == "__main__":
    sys.exit(main())
