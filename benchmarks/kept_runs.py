"""Measure the cost of an answer on the page: rows, transactions, CPU, and the bytes sent to its
page.

    python -m benchmarks.kept_runs --runs 1 10 100

Each answer has 1,000 tokens of 21 characters, one every 20 ms. The given number of answers run at
the same time, each with its page. The database is SQLite, and also PostgreSQL if TEST_DATABASE_URL
is set.
"""

from __future__ import annotations

import argparse
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from benchmarks.killed_fleet import SITE, Fleet, prepared_fleet
from benchmarks.processes import Process, free_port, start
from benchmarks.systems.starts import LOAD_CORE
from tests.databases.postgresql import shared_services
from tests.services import absence
from tests.sites.serving import DATABASE
from tests.sites.shell import Shell, start_shell
from tests.sites.websocket import PageSocket, visitor_cookie

TOKENS, DELAY_MS = 1_000, 20.0
ANSWER_BYTES = TOKENS * len("<0000000000000000000>")
PATIENCE = 300.0
LOOK_SECONDS = 0.5
COMMIT_SECONDS = 0.25
"""The interval at which SQLite is checked for commits: much shorter than the interval of the site's
commits."""
WINDOW_SECONDS = 10.0
"""The time in which all runs are active and none begins or ends."""
SLUG = "kept"
PREPARE = """
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="fake", display_name="Fake", base_url=f"{url}/v1", model_name="m", api_key="k"
)
manifest = {"orchestrator": {"deployment": {"deployment_id": "fake"}}, "contexts": [], "tool_sets": []}
save_live(Application(slug=slug, title=slug, manifest=manifest, is_public=True))
"""
ROWS = """
result = {
    "rows": JournalEntry.objects.count() + RunStep.objects.count(),
    "done": Run.objects.filter(status="done").count(),
    "others": list(Run.objects.exclude(status="done").values_list("status", flat=True)),
}
"""


Commits = Callable[[], int]
"""The number of writing transactions so far."""


@dataclass(frozen=True)
class Cost:
    """The cost of `runs` concurrent runs: rows and CPU milliseconds per run, and bytes sent per
    byte of text."""

    runs: int
    rows: float
    transactions: float
    """Transactions per second of the whole process while the runs are active."""
    cpu: float
    bytes: float


class Page:
    """A page that asks a question and counts the received, compressed bytes."""

    def __init__(self, url: str, cookie: str) -> None:
        self.received = 0
        self.socket = PageSocket(url, SLUG, cookie, deflates=True)
        self.thread = threading.Thread(target=self.read, daemon=True)

    def ask(self, tokens: int) -> None:
        wish = f"tokens={tokens} delay_ms={DELAY_MS} first_ms=0 tool="
        question = {"type": "ask", "id": str(uuid4()), "text": wish, "conversation": None}
        self.socket.send(question)
        self.thread.start()

    def read(self) -> None:
        while data := self.socket.connection.recv(65_536):
            self.received += len(data)

    def close(self) -> None:
        self.socket.connection.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def commits_of(settings: Mapping[str, str], folder: Path) -> AbstractContextManager[Commits]:
    address = settings.get("DATABASE_URL")
    return postgres_commits(address) if address else sqlite_commits(folder)


@contextmanager
def sqlite_commits(folder: Path) -> Iterator[Commits]:
    """Count the commits of other connections."""
    is_over = threading.Event()
    seen = 0

    def look() -> None:
        nonlocal seen
        connection = sqlite3.connect(folder / DATABASE)
        version = None
        while not is_over.wait(COMMIT_SECONDS / 50):
            (newest,) = connection.execute("PRAGMA data_version").fetchone()
            seen += newest != version
            version = newest
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lambda: seen
    finally:
        is_over.set()
        thread.join()


@contextmanager
def postgres_commits(address: str) -> Iterator[Commits]:
    """Count the transactions that wrote something, of all connections."""
    with psycopg.connect(address, autocommit=True) as connection:
        taken = 0

        def count() -> int:
            nonlocal taken
            taken += 1  # this query itself takes a transaction id
            row = connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
            assert row is not None
            return int(row[0]) - taken

        yield count


@contextmanager
def served(
    settings: dict[str, str], prepare: str, slug: str, program: Sequence[str] = SITE
) -> Iterator[tuple[Fleet, Shell, Commits]]:
    """Serve one process of the site, with the application and the fake model of `prepare`."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runs-")))
        port = free_port()
        model = start(["-m", "benchmarks.fake_llm", "--port", str(port)], port=port, core=LOAD_CORE)
        stack.callback(model.stop)
        unlimited = {"RUNS_PER_PERSON": "0", **settings}  # all visitors have the same address here
        fleet = stack.enter_context(prepared_fleet(folder, 1, unlimited, program))
        shell = start_shell(fleet.environment)
        stack.callback(shell.close)
        shell.run(prepare, {"url": f"http://127.0.0.1:{port}", "slug": slug})
        yield fleet, shell, stack.enter_context(commits_of(settings, folder))


def measure(settings: dict[str, str], numbers: Sequence[int]) -> list[Cost]:
    with served(settings, PREPARE, SLUG) as (fleet, shell, commits):
        warm_up(fleet, shell)
        return [measure_runs(fleet, shell, commits, runs) for runs in numbers]


def measure_runs(fleet: Fleet, shell: Shell, commits: Commits, runs: int) -> Cost:
    url = fleet.urls[0]
    pages = [Page(url, visitor_cookie(url, SLUG)) for _ in range(runs)]
    process = Process(fleet.processes[0], 0)
    before = shell.run(ROWS, {})
    cpu = process.cpu()
    for page in pages:
        page.ask(TOKENS)
    wait_for_rows(shell, lambda rows: len(rows["others"]) == runs)
    written = commits()
    time.sleep(WINDOW_SECONDS)
    transactions = (commits() - written) / WINDOW_SECONDS
    after = wait_for_rows(shell, lambda rows: rows["done"] == before["done"] + runs)
    for page in pages:
        page.close()
    return Cost(
        runs,
        (after["rows"] - before["rows"]) / runs,
        transactions,
        (process.cpu() - cpu) / runs * 1e3,
        sum(page.received for page in pages) / runs / ANSWER_BYTES,
    )


def warm_up(fleet: Fleet, shell: Shell) -> None:
    """Ask once: the first answer of a process loads modules and fills caches."""
    url = fleet.urls[0]
    page = Page(url, visitor_cookie(url, SLUG))
    page.ask(tokens=1)
    wait_for_rows(shell, lambda rows: rows["done"] == 1)
    page.close()


def wait_for_rows(shell: Shell, is_there: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + PATIENCE
    while not is_there(rows := shell.run(ROWS, {})):
        if time.monotonic() > end:
            raise RuntimeError(f"The runs have not come so far: {rows}")
        time.sleep(LOOK_SECONDS)
    return rows


def table(found: dict[str, list[Cost]]) -> str:
    lines = [
        "| database | runs at once | rows a run | transactions a second | CPU ms a run | bytes sent a byte |",
        "|---|---|---|---|---|---|",
    ]
    for name, costs in found.items():
        lines += [
            f"| {name} | {one.runs} | {one.rows:.1f} | {one.transactions:.1f} | {one.cpu:.0f} "
            f"| {one.bytes:.2f} |"
            for one in costs
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 10, 100])
    given = parser.parse_args()
    found = {"SQLite": measure({}, given.runs)}
    if not (absence("postgres") or absence("redis")):
        with shared_services() as settings:
            found["PostgreSQL"] = measure(settings, given.runs)
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
