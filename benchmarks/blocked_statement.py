"""Measure how a slow statement affects other requests. The goal is no effect.

    python -m benchmarks.blocked_statement --streams 100
    python -m benchmarks.blocked_statement --streams 100 --by sleep

Streams send answers through the gateway. In the meantime, a request reads a table that is locked
for four seconds, or with `--by sleep` one whose query sleeps for ten, and other requests and
`/readyz` are called. Each part is measured with one database thread, as in asgiref, and with
`DATABASE_THREADS`. TEST_DATABASE_URL and TEST_REDIS_URL name PostgreSQL and Redis.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

from benchmarks.goals import is_reached
from benchmarks.kept_runs import PREPARE, served
from benchmarks.load import Question, load, percentile
from tests.databases.postgresql import shared_services
from tests.services import absence

SLUG = "streams"
LOCKED_SECONDS = 4.0
"""Shorter than the lock timeout of servers."""
SLEEP_SECONDS = 10.0
TABLE = "triggers_webhook"
SLOW_TABLE = f"""
ALTER TABLE {TABLE} RENAME TO fast_table;
CREATE FUNCTION slow_rows() RETURNS SETOF fast_table LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep({SLEEP_SECONDS});
    RETURN QUERY SELECT * FROM fast_table;
END $$;
CREATE VIEW {TABLE} AS SELECT * FROM slow_rows();
"""
FAST_TABLE = f"""
DROP VIEW {TABLE};
DROP FUNCTION slow_rows;
ALTER TABLE fast_table RENAME TO {TABLE};
"""
STREAM = Question(tokens=1_000, delay_ms=50)
SHORT = Question(tokens=1)
SHORTS_BEFORE = 5
"""All streams have begun after this many requests, which takes seconds on a busy machine."""
PAUSE_SECONDS = 0.2
PATH = "/openai/deployments/streams/chat/completions"
MAKE_KEY = """
from apps.accounts.models import ApiKey
_, result = ApiKey.objects.create_key(name="benchmark")
"""
MOST_MILLISECONDS = 2_000.0
"""The limit for a request while the machine works on all streams. A blocked request takes at least
four seconds."""


@dataclass(frozen=True)
class Outcome:
    """Times in milliseconds. `blocked_for` is the duration of the request that reads the slow table."""

    threads: int
    errors: Sequence[str]
    token: float
    first: float
    ready: float
    blocked_for: float


async def measure(url: str, address: str, key: str, threads: int, streams: int, by: str) -> Outcome:
    port = urlsplit(url).port or 80
    going = asyncio.create_task(
        load(port, STREAM.write(PATH, key), STREAM, clients=streams, times=1)
    )
    await load(port, SHORT.write(PATH, key), SHORT, clients=1, times=SHORTS_BEFORE)
    read, seconds = WAYS[by]
    blocked, (first, ready, errors) = await asyncio.gather(
        asyncio.to_thread(read, url, address), meanwhile(url, port, key, seconds)
    )
    found = await going
    return Outcome(
        threads,
        [*found.errors, *errors],
        percentile(found.under_way, 1.0),
        max(first),
        max(ready),
        blocked,
    )


def read_locked_table(url: str, address: str) -> float:
    with psycopg.connect(address) as holder:
        holder.execute(f"LOCK TABLE {TABLE} IN ACCESS EXCLUSIVE MODE")
        waiting = asyncio.new_event_loop()
        try:
            asked = waiting.run_in_executor(None, read_table, url)
            time.sleep(LOCKED_SECONDS)
            holder.rollback()
            return waiting.run_until_complete(asked)
        finally:
            waiting.close()


def read_sleeping_table(url: str, address: str) -> float:
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute(SLOW_TABLE)
        try:
            return read_table(url)
        finally:
            owner.execute(FAST_TABLE)


def read_table(url: str) -> float:
    return seconds_of(f"{url}/hooks/{uuid4()}", b"{}")


WAYS: Mapping[str, tuple[Callable[[str, str], float], float]] = {
    "lock": (read_locked_table, LOCKED_SECONDS),
    "sleep": (read_sleeping_table, SLEEP_SECONDS),
}


async def meanwhile(
    url: str, port: int, key: str, seconds: float
) -> tuple[list[float], list[float], list[str]]:
    """Send one request after another for this long. Return their durations."""
    first, ready, errors = [], [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(PAUSE_SECONDS)
        began = time.monotonic()
        found = await load(port, SHORT.write(PATH, key), SHORT, clients=1, times=1)
        errors += found.errors
        first.append((time.monotonic() - began) * 1e3)
        ready.append(await asyncio.to_thread(seconds_of, f"{url}/readyz"))
    return first, ready, errors


def seconds_of(url: str, body: bytes | None = None) -> float:
    """Return the duration of a request in milliseconds, whatever its answer."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(url, body, timeout=60) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.close()
    return (time.monotonic() - began) * 1e3


def measured(threads: int, streams: int, by: str) -> Outcome:
    limit = {"DATABASE_THREADS": str(threads)}
    with shared_services() as services, served({**services, **limit}, PREPARE, SLUG) as site:
        fleet, shell, _ = site
        key = str(shell.run(MAKE_KEY, {}))
        address = services["DATABASE_URL"]
        return asyncio.run(measure(fleet.urls[0], address, key, threads, streams, by))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--by", choices=WAYS, default="lock")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 6])
    given = parser.parse_args()
    if reason := absence("postgres") or absence("redis"):
        print(reason)
        return 0
    found = [measured(threads, given.streams, given.by) for threads in given.threads]
    print("| database threads | slowest token | slowest new answer | slowest /readyz | blocked |")
    print("|---|---|---|---|---|")
    for one in found:
        times = (one.token, one.first, one.ready, one.blocked_for)
        print(f"| {one.threads} | " + " | ".join(f"{ms:,.0f} ms" for ms in times) + " |")
    last = found[-1]
    print(*last.errors, sep="\n")
    goals = (("a new answer", last.first), ("a token", last.token), ("/readyz", last.ready))
    reached = [is_reached(name, value, MOST_MILLISECONDS, "ms") for name, value in goals]
    return 0 if all(reached) and not last.errors else 1


if __name__ == "__main__":
    sys.exit(main())
