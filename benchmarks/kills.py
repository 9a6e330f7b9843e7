"""Kill processes during runs, and count what is lost, sent twice or done twice.

    python -m benchmarks.kills --kills 100

Three runs are active at each kill: one with repeatable tools, one with tools that cannot be
repeated, and one that waits for approvals, which another process gives. SQLite has one process,
which is restarted. PostgreSQL with Redis (TEST_DATABASE_URL, TEST_REDIS_URL) has three.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.killed_counts import Counts, table
from benchmarks.killed_fleet import Fleet, prepared_fleet
from benchmarks.killed_services import ANSWER, TURNS, Services, manifest, serve_services
from benchmarks.killed_viewer import Viewer
from tests.databases.postgresql import shared_services
from tests.services import absence
from tests.sites.shell import Shell, start_shell
from tests.sites.websocket import PageSocket, visitor_cookie

AGES = {"plain": 4.0, "once": 4.0, "asking": 7.0}
"""Kinds of runs, and their maximum age when their process is killed."""
TAKE_OVER_SECONDS = 15.0
LOGS = Path(__file__).parent / "results"
"""The directory for logs of fleets that lost a run."""
ANSWER_SECONDS = 0.2
PREPARE = """
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="slow", display_name="Slow", base_url=url, model_name="m", api_key="k"
)
for slug, manifest in manifests.items():
    save_live(Application(slug=slug, title=slug, manifest=manifest, is_public=True))
"""
APPROVE = """
from asgiref.sync import async_to_sync
from apps.errors import Refused
from apps.live.interactions import answer_interaction
from apps.live.models import Interaction
from apps.live.journal.notifications import announce_waiting
for one in Interaction.objects.filter(answer__isnull=True, run__status="waiting").select_related("run"):
    try:
        answer_interaction(one.run, one.key, one.kind, {"outcome": "approved"}, "script")
    except Refused:
        pass
    else:
        async_to_sync(announce_waiting)()
"""
STORED = """
from apps.conversations.models import Message
from apps.live.models import Run, RunStep
result = {
    "runs": [
        (str(run.stream), run.status, run.holder, run.attempts) for run in Run.objects.filter(stream__in=streams)
    ],
    "answers": [
        (str(one.conversation_id), one.text, one.finish_reason)
        for one in Message.objects.filter(conversation__in=streams, role="assistant")
    ],
    "tools": [
        (f"{one.run_id}:{one.key}", str(one.run.stream), one.status)
        for one in RunStep.objects.filter(run__stream__in=streams, kind="tool").select_related("run")
    ],
}
"""


@dataclass(frozen=True)
class Kill:
    """One kill. `finished` are the idempotency keys of calls whose results were stored before it."""

    at: float
    finished: Sequence[str]
    orphans: Sequence[Viewer]
    """The viewers of the runs of the process."""


@dataclass
class Scene:
    """The processes of one database, their runs, and the outcomes."""

    fleet: Fleet
    services: Services
    shell: Shell
    random: random.Random
    counts: Counts = field(default_factory=Counts)
    viewers: list[Viewer] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)

    def ask(self, place: int, kind: str) -> None:
        url = self.fleet.urls[place]
        cookie = visitor_cookie(url, kind)
        tab = PageSocket(url, kind, cookie)
        conversation = tab.ask("Find it out.")
        tab.close()
        self.viewers.append(Viewer(self.fleet, kind, cookie, conversation, place + 1))

    def kill(self, place: int) -> None:
        """Begin a run of each kind. Kill their process when each run has reached a random age."""
        ages = {kind: self.random.uniform(0, most) for kind, most in AGES.items()}
        at = time.monotonic() + max(ages.values())
        for kind, age in sorted(ages.items(), key=lambda aged: -aged[1]):
            time.sleep(max(0.0, at - age - time.monotonic()))
            self.ask(place, kind)
        time.sleep(max(0.0, at - time.monotonic()))
        holder = f"-{self.fleet.kill(place)}-"
        at = time.monotonic()
        stored = self.stored([viewer for viewer in self.viewers if viewer.is_watching])
        held = {stream for stream, _, by, _ in stored["runs"] if holder in by}
        finished = [key for key, _, status in stored["tools"] if status != "begun"]
        orphans = [viewer for viewer in self.viewers if viewer.conversation in held]
        self.kills.append(Kill(at, finished, orphans))
        self.counts.kills += 1
        self.counts.killed += len(orphans)
        self.counts.waited += sum(status == "waiting" for _, status, *_ in stored["runs"])

    def stored(self, viewers: Sequence[Viewer]) -> Any:
        return self.shell.run(STORED, {"streams": [viewer.conversation for viewer in viewers]})

    def end(self) -> Counts:
        """Wait for all runs, and count their outcomes."""
        for viewer in self.viewers:
            viewer.wait()
        self.counts.runs = len(self.viewers)
        stored = self.stored(self.viewers)
        status = {
            stream: f"{status}, taken over {attempts} times since its last step"
            for stream, status, _, attempts in stored["runs"]
        }
        for viewer in self.viewers:
            answers = [
                (text, reason)
                for of, text, reason in stored["answers"]
                if of == viewer.conversation
            ]
            self.judge(viewer, status.get(viewer.conversation, "none"), answers)
        self.judge_calls(stored["tools"])
        return self.counts

    def judge(self, viewer: Viewer, status: str, answers: Sequence[tuple[str, str]]) -> None:
        counts = self.counts
        who = f"{viewer.kind} {viewer.conversation}"
        if len(answers) > 1 or any(text.count(TURNS[0]) > 1 for text, _ in answers):
            counts.fault("doubled", f"{who} {answers}")
        elif not status.startswith("done") or answers != [(ANSWER, "stop")]:
            counts.fault("lost", f"{who} {status} {answers}")
            return
        if not viewer.text == viewer.stored == answers[0][0]:
            counts.fault("shown_differently", f"{who} {viewer.text!r} {viewer.stored!r}")

    def judge_calls(self, tools: Sequence[tuple[str, str, str]]) -> None:
        counts, requests = self.counts, self.services.requests
        kinds = {viewer.conversation: viewer.kind for viewer in self.viewers}
        for key, stream, status in tools:
            again = max(0, len(requests.get(key, ())) - 1)
            if kinds[stream] == "plain":
                counts.repeated += again
            elif again:
                counts.fault("repeated_once", f"{key} {requests[key]}")
            counts.unknown += status == "unknown"
        for kill in self.kills:
            for key in kill.finished:
                if any(at > kill.at for at in requests.get(key, ())):
                    counts.fault("repeated_finished", key)
            for viewer in kill.orphans:
                self.judge_take_over(kill, viewer)

    def judge_take_over(self, kill: Kill, viewer: Viewer) -> None:
        # With a single process, no run can be taken over before the process is up again.
        begun = self.fleet.next_start(kill.at) if len(self.fleet.urls) == 1 else kill.at
        seconds = [max(0.0, at - begun) for at in viewer.continued if at > kill.at]
        if not seconds:
            return  # the run was lost and is counted as lost
        self.counts.seconds.append(seconds[0])
        others = [other.at - kill.at for other in self.kills if other.at > kill.at]
        if seconds[0] > TAKE_OVER_SECONDS and seconds[0] < min(others, default=seconds[0] + 1):
            self.counts.fault("late", f"{viewer.conversation} {seconds[0]:.1f} s")


@contextmanager
def approving(fleet: Fleet) -> Iterator[None]:
    """Approve all waiting calls, from a process that does nothing else."""
    is_over = threading.Event()
    shell = start_shell(fleet.environment)

    def approve() -> None:
        while not is_over.wait(ANSWER_SECONDS):
            shell.run(APPROVE, {})

    thread = threading.Thread(target=approve)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        shell.close()


def run_kills(
    settings: dict[str, str], processes: int, kills: int, seed: int, seconds: float
) -> Counts:
    """Kill one process after another for this time. Each is restarted immediately."""
    end = time.monotonic() + seconds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
        services = stack.enter_context(serve_services())
        unlimited = {"RUNS_PER_PERSON": "0", **settings}  # all visitors have the same address here
        fleet = stack.enter_context(prepared_fleet(folder, processes, unlimited))
        shell = start_shell(fleet.environment)
        stack.callback(shell.close)
        manifests = {kind: manifest(services.url, kind) for kind in AGES}
        shell.run(PREPARE, {"url": services.url, "manifests": manifests})
        scene = Scene(fleet, services, shell, random.Random(seed))
        stack.enter_context(approving(fleet))
        for number in range(kills):
            if time.monotonic() > end:
                break
            place = number % processes
            fleet.wait_for(place, others=processes > 1)
            scene.kill(place)
            fleet.start_later(place)
            print(f"{number + 1} of {kills}, {processes} processes", file=sys.stderr)
            if processes == 1:
                # A run that is killed six times without progress would be abandoned.
                for viewer in scene.viewers:
                    viewer.wait()
        counts = scene.end()
        if counts.lost:
            kept = shutil.copytree(folder, LOGS / folder.name, ignore=only_logs)
            counts.details.append(f"what the processes logged is in {kept}")
        return counts


def only_logs(folder: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.endswith(".log")]


def measure(kills: int, seed: int, *, seconds: float = 3600, **settings: str) -> dict[str, Counts]:
    """Kill on both databases at the same time, or on SQLite alone if there is no PostgreSQL. SQLite
    gets a third of the kills, because a single process has to restart between them."""
    has_postgres = not (absence("postgres") or absence("redis"))
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(2))
        found = {}
        if has_postgres:
            given = stack.enter_context(shared_services()) | settings
            found["PostgreSQL"] = threads.submit(
                run_kills, given, 3, kills - kills // 3, seed + 1, seconds
            )
        left = kills // 3 if has_postgres else kills
        found["SQLite"] = threads.submit(run_kills, settings, 1, left, seed, seconds)
        return {name: counts.result() for name, counts in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="begin no kill after that")
    given = parser.parse_args()
    started = time.monotonic()
    found = measure(given.kills, given.seed, seconds=given.seconds)
    print(table(found))
    print(f"\nseed {given.seed}, {time.monotonic() - started:.0f} s")
    for name, counts in found.items():
        for detail in counts.details:
            print(f"{name}: {detail}")
    spared = [name for name, counts in found.items() if not counts.kills]
    for name in spared:
        print(f"{name}: no process was killed, so nothing was tested. Raise --kills or --seconds.")
    return int(bool(spared) or any(counts.faults for counts in found.values()))


if __name__ == "__main__":
    sys.exit(main())
