"""Measure the "Usage" page and the home page of the admin with 90 days of calls.

    python -m benchmarks.usage

There are 100,000 calls on SQLite, and a million on PostgreSQL if TEST_DATABASE_URL names a server,
on which a database is created and dropped. The exit status is 1 if a page exceeds its goal for time
or queries.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from benchmarks.goals import is_reached

GOAL_MS, GOAL_HOME_MS, GOAL_QUERIES = 300.0, 150.0, 15
DAYS, AT_ONCE, ROUNDS = 90, 10_000, 5
CALLS_OF_RUN, USES_OF_RUN = 3, 1
CALLERS, KEYS, TEAMS, APPLICATIONS, DEPLOYMENTS, TOOLS = 400, 100, 30, 20, 12, 40
BY = ("application", "version", "user", "key", "team", "deployment", "tool")
PERIODS = (1, 7, 30, 90)


class Calls:
    """Runs over 90 days, with three model calls and one tool call each, during the day on working
    days."""

    def __init__(self, count: int) -> None:
        self.random = random.Random(1)
        self.runs = count // CALLS_OF_RUN
        self.now = datetime.now(UTC)

    def batches(self) -> Iterator[tuple[list[Any], list[Any], list[Any]]]:
        done = 0
        while done < self.runs:
            size = min(AT_ONCE, self.runs - done)
            rows = [self.run() for _ in range(size)]
            yield (
                [run for run, _, _ in rows],
                [call for _, calls, _ in rows for call in calls],
                [use for _, _, uses in rows for use in uses],
            )
            done += size

    def moment(self) -> datetime:
        while True:
            at = self.now - timedelta(seconds=self.random.uniform(1, DAYS * 86_400))
            weight = (1.0 if at.weekday() < 5 else 0.2) * (1.0 if 7 <= at.hour < 19 else 0.2)
            if self.random.random() < weight:
                return at

    def few(self, count: int) -> int:
        """Choose one of that many, the first ones most often."""
        return min(int(self.random.expovariate(4 / count)), count - 1)

    def run(self) -> tuple[Any, list[Any], list[Any]]:
        chance, at, run = self.random, self.moment(), uuid4().hex
        application, version = f"app-{self.few(APPLICATIONS)}", chance.randint(1, 3)
        is_key = chance.random() < 0.3
        kind = "key" if is_key else "user"
        bucket = f"key-{self.few(KEYS)}" if is_key else f"user-{self.few(CALLERS)}"
        door, status = (
            ("gateway" if is_key else "page"),
            "failed" if chance.random() < 0.03 else "done",
        )
        team = None if is_key or chance.random() < 0.5 else self.few(TEAMS)
        common = (run, None, application, version, door, bucket, kind, team)
        calls = [self.call(common, at, number) for number in range(1, CALLS_OF_RUN + 1)]
        seconds = chance.lognormvariate(-1, 1)
        failed = chance.random() < 0.05
        use = (*common, 1, at, seconds, f"tool-{self.few(TOOLS)}", "server", failed)
        row = (run, door, application, bucket, status, at, at, 5.0, 3, 1, 100, 100, "")
        return row, calls, [use] * USES_OF_RUN

    def call(self, common: tuple[Any, ...], at: datetime, number: int) -> tuple[Any, ...]:
        chance = self.random
        seconds, deployment = chance.lognormvariate(0.5, 0.8), f"model-{self.few(DEPLOYMENTS)}"
        error = (
            chance.choice(("status 429", "timeout", "connection")) if chance.random() < 0.02 else ""
        )
        tokens = int(chance.lognormvariate(7, 1))
        cost = None if deployment == "model-11" else f"{tokens * 3e-6:.10f}"
        currency = "" if cost is None else "USD"
        times = (seconds, deployment, "openai", deployment, seconds / 4, "stop", error, None)
        counts = (tokens, tokens // chance.choice((1, 2, 8)), None, tokens // 5, None)
        return (*common, number, at + timedelta(seconds=number), *times, *counts, cost, currency)


RUN_COLUMNS = (
    *("id", "door", "application", "bucket", "status", "started_at", "seen_at", "seconds"),
    *("model_calls", "tool_calls", "prompt_tokens", "completion_tokens", "error_reference"),
)


def fill(count: int) -> None:
    from django.db import connection, transaction

    from apps.insights.call_rows import MODEL_COLUMNS, TOOL_COLUMNS, insert_rows
    from apps.insights.models import ModelCall, ToolUse
    from apps.live.run_summary import RunSummary

    def adapted(row: tuple[Any, ...]) -> list[Any]:
        adapt = connection.ops.adapt_datetimefield_value
        return [adapt(value) if isinstance(value, datetime) else value for value in row]

    for runs, calls, uses in Calls(count).batches():
        with transaction.atomic():
            insert_rows(RunSummary, RUN_COLUMNS, list(map(adapted, runs)))
            insert_rows(ModelCall, MODEL_COLUMNS, list(map(adapted, calls)))
            insert_rows(ToolUse, TOOL_COLUMNS, list(map(adapted, uses)))


@contextmanager
def database(address: str) -> Iterator[str]:
    """Return an empty database: a file, or one on the server at that address."""
    if not address:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{Path(folder) / 'usage.sqlite3'}"
        return
    import psycopg

    name = f"usage_benchmark_{os.getpid()}"
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(address)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def measure(count: int) -> bool:
    """Return True if all goals are reached in the database of this process."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    from apps.insights.models import UsageSum
    from apps.insights.rollups import sum_up_all
    from apps.live.history.run_rows import count_runs

    started = time.perf_counter()
    fill(count)
    filled = time.perf_counter()
    spans = sum_up_all(count_runs)
    print(
        f"\n{connection.vendor}, {count:,} calls, written in {filled - started:.0f} s;"
        f" {spans:,} hours and days summed up in {time.perf_counter() - filled:.0f} s:"
        f" {UsageSum.objects.count():,} sums"
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_superuser("admin"))
    print(f"{'milliseconds':52}  median   least     CPU  queries")
    usage = [f"insights/usagesum/?by={by}&days={days}" for days in PERIODS for by in BY]
    slowest = max(pages := [measured(client, page) for page in usage])
    home = measured(client, "")
    return all(
        [
            is_reached("the slowest page of usage", slowest[0], GOAL_MS, "ms"),
            is_reached("the first page", home[0], GOAL_HOME_MS, "ms"),
            is_reached("queries", max(found[1] for found in (*pages, home)), GOAL_QUERIES, "each"),
        ]
    )


def measured(client: Any, page: str) -> tuple[float, int]:
    """Return the median milliseconds and the number of queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    assert client.get(f"/admin/{page}").status_code == 200
    times, used = [], []
    for _ in range(ROUNDS):
        started, before = time.perf_counter(), time.process_time()
        client.get(f"/admin/{page}")
        times.append((time.perf_counter() - started) * 1000)
        used.append((time.process_time() - before) * 1000)
    counts = []
    for _ in range(2):  # occasional lookups of the process are not part of the page
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/admin/{page}")
        counts.append(len(queries))
    median, count = statistics.median(times), min(counts)
    figures = f"{median:7.0f} {min(times):7.0f} {statistics.median(used):7.0f} {count:8}"
    print(f"/admin/{page:45} {figures}")
    return median, count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, help="instead of 100,000 and a million")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.here:
        return 0 if measure(chosen.calls) else 1
    status = 0
    server = os.environ.get("TEST_DATABASE_URL", "")
    for address, count in (("", 100_000), *([(server, 1_000_000)] if server else [])):
        with database(address) as found:
            environment = {**os.environ, "DATABASE_URL": found}
            environment["DJANGO_SETTINGS_MODULE"] = "quickapps_site.settings"
            calls = str(chosen.calls or count)
            command = [sys.executable, "-m", "benchmarks.usage", "--here", "--calls", calls]
            status |= subprocess.run(command, env=environment, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
