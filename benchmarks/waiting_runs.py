"""Measure runs that wait for users: memory, open files and queries, and whether all of them resume.

    python -m benchmarks.waiting_runs --runs 1000

Each run calls a tool that needs approval, without a time limit. When all runs wait, the process is
killed and restarted; then all calls are approved at once. The database is SQLite, and also
PostgreSQL with Redis if TEST_DATABASE_URL and TEST_REDIS_URL are set.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kept_runs import Commits, served
from benchmarks.killed_fleet import Fleet
from benchmarks.kills import APPROVE
from benchmarks.processes import Process
from tests.databases.postgresql import shared_services
from tests.services import absence
from tests.sites.shell import Shell
from tests.sites.websocket import PageSocket, visitor_cookie

SLUG = "waiting"
TOOL = "shop_look"
PATIENCE = 600.0
QUIET_SECONDS = 10.0
"""The time for which the process is observed while runs only wait."""
PREPARE = """
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="fake", display_name="Fake", base_url=f"{url}/v1", model_name="m", api_key="k"
)
zone = {"type": "string", "parameter_info": {"type": "query", "key": "timezone"}}
parameters = {"type": "object", "properties": {"timezone": zone}, "required": []}
tool = {
    "rest_api_method_info": {"method_url": f"{url}/openai/models/bench", "method_type": "get"},
    "open_ai_tool": {"function": {"name": "look", "description": "Look", "parameters": parameters}},
}
manifest = {
    "orchestrator": {"deployment": {"deployment_id": "fake"}},
    "contexts": [],
    "tool_sets": [{"type": "rest-api", "name": "shop", "tools": [tool]}],
    "features": {"approval": {"mode": "confirm", "seconds": None}},
}
save_live(Application(slug=slug, title=slug, manifest=manifest, is_public=True))
"""
COUNTS = """
from collections import Counter
answers = Counter(Message.objects.filter(role="assistant").values_list("conversation", flat=True))
result = {
    "waiting": Run.objects.filter(status="waiting").count(),
    "done": Run.objects.filter(status="done").count(),
    "doubled": sum(times > 1 for times in answers.values()),
    "answered": Message.objects.filter(role="assistant", text__startswith="<").count(),
}
"""


@dataclass(frozen=True)
class State:
    """The state of the idle process: memory in MiB, open files, CPU and write transactions per
    second."""

    name: str
    memory: float
    files: int
    cpu: float
    transactions: float


@dataclass(frozen=True)
class Outcome:
    """The outcome. `start_seconds` is the time until the process answered again, `end_seconds` the
    time from the approvals to the last answer."""

    states: list[State]
    start_seconds: float
    end_seconds: float
    counts: dict[str, int]


def measure(settings: dict[str, str], runs: int) -> Outcome:
    with served(settings, PREPARE, SLUG) as (fleet, shell, commits):
        ask(fleet, 1)  # the first run loads modules and fills caches
        wait_for(shell, lambda counts: counts["waiting"] == 1)
        states = [state("before", fleet, commits)]
        ask(fleet, runs - 1)
        wait_for(shell, lambda counts: counts["waiting"] == runs)
        states.append(state(f"{runs} runs wait", fleet, commits))
        began = time.monotonic()
        fleet.kill(0)
        fleet.start(0)
        started = time.monotonic() - began
        states.append(state("started again", fleet, commits))
        began = time.monotonic()
        shell.run(APPROVE, {})
        counts = wait_for(shell, lambda counts: counts["done"] == runs)
        ended = time.monotonic() - began
        states.append(state("after", fleet, commits))
        return Outcome(states, started, ended, counts)


def ask(fleet: Fleet, runs: int) -> None:
    """Ask in that many browsers, each of which disconnects immediately."""
    url = fleet.urls[0]
    for _ in range(runs):
        tab = PageSocket(url, SLUG, visitor_cookie(url, SLUG))
        tab.ask(f"tokens=1 delay_ms=0 first_ms=0 tool={TOOL}")
        tab.close()


def state(name: str, fleet: Fleet, commits: Commits) -> State:
    process = Process(fleet.processes[0], 0)
    cpu, written = process.cpu(), commits()
    time.sleep(QUIET_SECONDS)
    return State(
        name,
        process.memory() / 2**20,
        len([*Path(f"/proc/{process.process.pid}/fd").iterdir()]),
        (process.cpu() - cpu) / QUIET_SECONDS,
        (commits() - written) / QUIET_SECONDS,
    )


def wait_for(shell: Shell, is_there: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + PATIENCE
    while not is_there(counts := shell.run(COUNTS, {})):
        if time.monotonic() > end:
            raise RuntimeError(f"The runs have not come so far: {counts}")
        time.sleep(0.5)
    return counts


def table(found: dict[str, Outcome]) -> str:
    lines = [
        "| database | | memory MiB | open files | CPU | transactions a second |",
        "|---|---|---|---|---|---|",
    ]
    for name, outcome in found.items():
        lines += [
            f"| {name} | {one.name} | {one.memory:.1f} | {one.files} | {one.cpu:.1%} "
            f"| {one.transactions:.1f} |"
            for one in outcome.states
        ]
    lines.append("")
    lines += [
        f"{name}: started again after {outcome.start_seconds:.1f} s, all over "
        f"{outcome.end_seconds:.1f} s after the approvals, {outcome.counts}"
        for name, outcome in found.items()
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    runs: int = parser.parse_args().runs
    found = {"SQLite": measure({}, runs)}
    if not (absence("postgres") or absence("redis")):
        with shared_services() as settings:
            found["PostgreSQL"] = measure(settings, runs)
    print(table(found))
    wanted = {"waiting": 0, "done": runs, "doubled": 0, "answered": runs}
    return int(any(outcome.counts != wanted for outcome in found.values()))


if __name__ == "__main__":
    sys.exit(main())
