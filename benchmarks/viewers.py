"""Measure many viewers that leave and rejoin many answers: what each has received at the end, and
the cost.

    python -m benchmarks.viewers --viewers 500 --runs 100 --seed 1

Answers have 900 tokens and one tool call, at ten tokens per second, in one process on SQLite. Three
of five viewers use a WebSocket, two use server-sent events. Each leaves at random times, with the
given seed, and rejoins with the number of its newest event; one in ten does not return.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kept_runs import served
from benchmarks.killed_fleet import Fleet
from benchmarks.leaving_viewer import Kind, LeavingViewer
from benchmarks.processes import Process
from benchmarks.waiting_runs import PREPARE, TOOL
from tests.sites.shell import Shell
from tests.sites.websocket import PageSocket, visitor_cookie

SLUG = "viewed"
TOKENS, DELAY_MS = 900, 100.0
KINDS: tuple[Kind, ...] = ("WebSocket", "SSE", "WebSocket", "SSE", "WebSocket")
PATIENCE = 400.0
SETTLE_SECONDS = 60.0
KEPT_SECONDS = 16.0
"""The site keeps idle connections to the model for 15 seconds, and closes them with its next
request."""
ARRIVAL_SECONDS = 10.0
"""The time until all viewers have connected for the first time."""
PROGRAM = ("-m", "benchmarks.counted_site")
UNAPPROVED = PREPARE.replace('"features": {"approval": {"mode": "confirm", "seconds": None}},', "")
STORED = """
from apps.conversations.models import Message
from apps.live.models import Run
result = {
    "texts": {
        str(one.conversation_id): one.text for one in Message.objects.filter(role="assistant")
    },
    "open": Run.objects.filter(status__in=Run.OPEN).count(),
}
"""


@dataclass(frozen=True)
class State:
    """The state of the process: memory in MiB, open files, and tasks."""

    name: str
    memory: float
    files: int
    tasks: int


class Scene:
    """One process of the site and its viewers."""

    def __init__(self, fleet: Fleet, shell: Shell, tasks: Path) -> None:
        self.fleet, self.shell, self.tasks_file = fleet, shell, tasks
        self.process = Process(fleet.processes[0], 0)
        self.states: list[State] = []

    def cookie(self) -> str:
        """Return the cookie of a new browser."""
        return visitor_cookie(self.fleet.urls[0], SLUG)

    def ask(self, cookie: str, tokens: int) -> tuple[str, str]:
        """Ask a question in that browser. Return its cookie and the conversation."""
        url = self.fleet.urls[0]
        tab = PageSocket(url, SLUG, cookie)
        wish = f"tokens={tokens} delay_ms={DELAY_MS} first_ms=0 tool={TOOL}"
        conversation = tab.ask(wish)
        tab.close()
        return cookie, conversation

    def viewer(self, asked: tuple[str, str], kind: Kind, seed: int) -> LeavingViewer:
        return LeavingViewer(self.fleet.urls[0], SLUG, *asked, kind, seed)

    def reference(self, asked: tuple[str, str]) -> LeavingViewer:
        """Return what a viewer sees that connects after the end."""
        one = self.viewer(asked, "WebSocket", 0)
        one.visit(1_000_000)
        return one

    def state(self, name: str, *, at_most: State | None = None) -> None:
        """Return the state. With `at_most`, wait until the process has released what exceeds it."""
        end = time.monotonic() + SETTLE_SECONDS
        while True:
            found = State(name, self.process.memory() / 2**20, self.files(), self.tasks())
            is_settled = at_most is None or found.tasks <= at_most.tasks
            if is_settled or time.monotonic() > end:
                self.states.append(found)
                return
            time.sleep(1)

    def files(self) -> int:
        return len([*Path(f"/proc/{self.process.process.pid}/fd").iterdir()])

    def tasks(self) -> int:
        self.tasks_file.unlink(missing_ok=True)
        os.kill(self.process.process.pid, signal.SIGUSR1)
        end = time.monotonic() + PATIENCE
        while not self.tasks_file.exists():
            if time.monotonic() > end:
                raise RuntimeError("The process does not tell its tasks.")
            time.sleep(0.05)
        return int(self.tasks_file.read_text())

    def warm_up(self) -> None:
        """Run an answer with viewers: the first ones load modules and fill caches."""
        asked = self.ask(self.cookie(), tokens=5)
        for kind in ("WebSocket", "SSE"):
            one = self.viewer(asked, kind, 0)
            one.stays = True
            one.watch()


def measure(viewers: int, runs: int, rounds: int, seed: int) -> tuple[Scene, Counter[str]]:
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="viewers-") as folder:
        tasks = Path(folder) / "tasks"
        settings = {"TASKS_FILE": str(tasks)}
        with served(settings, UNAPPROVED, SLUG, PROGRAM) as (fleet, shell, _):
            scene = Scene(fleet, shell, tasks)
            scene.warm_up()
            scene.state("before")
            for number in range(rounds):
                counts.update(watched_round(scene, viewers, runs, (seed + number) * 1_000_000))
                time.sleep(KEPT_SECONDS)
                scene.warm_up()  # idle connections to the model are closed by then
                scene.state("after", at_most=scene.states[0])
            return scene, counts


def watched_round(scene: Scene, viewers: int, runs: int, seed: int) -> Counter[str]:
    cookies = [scene.cookie() for _ in range(runs)]
    asked = [scene.ask(cookie, TOKENS) for cookie in cookies]
    watching = [
        scene.viewer(asked[place % runs], KINDS[place // runs % len(KINDS)], seed + place)
        for place in range(viewers)
    ]
    for one in watching:
        one.thread.start()
    time.sleep(ARRIVAL_SECONDS)
    scene.state(f"{viewers} viewers of {runs} answers")
    going = scene.shell.run(STORED, {})["open"]
    for one in watching:
        one.thread.join(PATIENCE)
    stored = scene.shell.run(STORED, {})
    seen = {one[1]: scene.reference(one) for one in asked}
    counts = judged(watching, seen, stored)
    counts["answers going with all viewers there"] = going
    return counts


def judged(
    viewers: Sequence[LeavingViewer], seen: dict[str, LeavingViewer], stored: Any
) -> Counter[str]:
    """Return the problems by kind, and the number of checks."""
    counts: Counter[str] = Counter()
    for one in viewers:
        whole, text = seen[one.conversation], stored["texts"].get(one.conversation, "")
        counts[f"visits over {one.kind}"] += one.visits
        counts["FAULT visits that failed"] += one.failures
        counts["FAULT events doubled"] += one.doubled
        if one.has_left and not one.is_over:
            counts["viewers that stayed away"] += 1
            is_part = text.startswith(one.text) and whole.marks[: len(one.marks)] == one.marks
            counts["FAULT seen differently before leaving"] += not is_part
            continue
        counts[f"viewers at the end over {one.kind}"] += 1
        counts["FAULT not at the end"] += one.status != "done"
        counts["FAULT text by deltas differs from the stored one"] += one.text != text
        counts["FAULT text at the end differs from the stored one"] += one.complete != text
        counts["FAULT events lost or different"] += one.marks != whole.marks
        counts["FAULT text of stages differs"] += one.stage_text != whole.stage_text
    counts["FAULT answers that are not over"] += stored["open"]
    return counts


def table(scene: Scene, counts: Counter[str]) -> str:
    lines = ["| | memory MiB | open files | tasks |", "|---|---|---|---|"]
    lines += [
        f"| {one.name} | {one.memory:.1f} | {one.files} | {one.tasks} |" for one in scene.states
    ]
    lines += ["", "| | count |", "|---|---|"]
    lines += [f"| {name} | {number} |" for name, number in sorted(counts.items())]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=500)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.monotonic()
    scene, counts = measure(given.viewers, given.runs, given.rounds, given.seed)
    print(table(scene, counts))
    print(f"\nseed {given.seed}, {time.monotonic() - started:.0f} s")
    has_fault = any(number for name, number in counts.items() if name.startswith("FAULT"))
    before, *_, after = scene.states
    return int(has_fault or after.tasks > before.tasks)


if __name__ == "__main__":
    sys.exit(main())
