"""Measure the cost of metering an answer: rows and prices of its call, and a budget.

    python -m benchmarks.metering

One process answers in three modes: without records of its calls, with rows and prices, and also
with a budget. CPU time is that of all threads of the process, and pending rows are written before
it is read. The database is SQLite, and also PostgreSQL if TEST_DATABASE_URL is set.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.goals import is_reached
from benchmarks.modules import request
from benchmarks.processes import free_port, start
from benchmarks.systems import shipped
from benchmarks.usage import database

GOAL_SHARE, GOAL_CHUNK_US, GOAL_BUDGET_US = 5.0, 1.0, 1000.0
ROUNDS, WARM_UP, TOGETHER, REQUESTS, STREAMS, TOKENS = 15, 40, 8, 30, 2, 200
NOTHING, ROWS, BUDGET = "nothing kept", "rows and prices", "a budget as well"

Figures = dict[str, list[float]]
"""Microseconds of CPU in each round."""


class Site:
    """The site in this process, which meters as configured."""

    def __init__(self, key: str) -> None:
        from apps.live.hub import HUB
        from quickapps_site.asgi import application

        self.hub, self.application, self.key = HUB, application, key
        self.add = HUB.summaries.calls.add

    async def count(self, mode: str) -> None:
        from channels.db import database_sync_to_async

        calls: Any = self.hub.summaries.calls
        calls.add = self.add if mode != NOTHING else keep_nothing
        await database_sync_to_async(set_budget)(mode == BUDGET)
        self.hub.budgets.forget()

    async def cpu(self, tokens: int, times: int) -> float:
        """Return the microseconds per answer, including writing its rows."""
        before = time.process_time()
        await asyncio.gather(*(self.ask(tokens, times) for _ in range(TOGETHER)))
        while self.hub.budgets.unsettled:
            await self.hub.budgets.flush()
        await self.hub.summaries.flush()
        return (time.process_time() - before) / (TOGETHER * times) * 1e6

    async def ask(self, tokens: int, times: int) -> None:
        for _ in range(times):
            await request(self.application, self.key, True, tokens=tokens, delay_ms=2)


def keep_nothing(entry: object) -> bool:
    return False


def set_budget(is_wanted: bool) -> None:
    from apps.insights.budgets.models import Budget

    Budget.objects.all().delete()
    if is_wanted:
        Budget.objects.create(subject_kind="key", unit="money", amount=10**6, window="month")


async def measure(key: str) -> tuple[Figures, Figures]:
    """Measure the CPU time of a request in each mode, and of a chunk without and with rows."""
    site = Site(key)
    modes = (NOTHING, ROWS, BUDGET)
    requests: Figures = {mode: [] for mode in modes}
    chunks: Figures = {mode: [] for mode in modes[:2]}
    await site.cpu(1, WARM_UP)
    for number in range(ROUNDS):
        for mode in modes if number % 2 else modes[::-1]:
            await site.count(mode)
            await site.cpu(1, 2)
            requests[mode].append(await site.cpu(1, REQUESTS))
            if mode in chunks:
                # Each mode answers equally often, because one transaction writes the rows of all
                # answers.
                short, long = await site.cpu(1, STREAMS), await site.cpu(TOKENS, STREAMS)
                chunks[mode].append((long - short) / (TOKENS - 1))
    return requests, chunks


def added(figures: Figures, one: str, other: str) -> float:
    """Return the median of the extra time of the other mode, compared within each round."""
    pairs = zip(figures[one], figures[other], strict=True)
    return statistics.median(after - before for before, after in pairs)


def judge(requests: Figures, chunks: Figures) -> bool:
    from django.db import connection

    for what, figures in (("request", requests), ("chunk", chunks)):
        for mode, found in figures.items():
            print(f"{connection.vendor:10} {what:8} {mode:17} {statistics.median(found):8.1f} us")
    share = added(requests, NOTHING, ROWS) / statistics.median(requests[NOTHING]) * 100
    budget = added(requests, ROWS, BUDGET)
    chunk = added(chunks, NOTHING, ROWS)
    return all(
        [
            is_reached("rows and prices of a request", share, GOAL_SHARE, "%"),
            is_reached("rows and prices of a chunk", chunk, GOAL_CHUNK_US, "us"),
            is_reached("a budget of a call", budget, GOAL_BUDGET_US, "us"),
        ]
    )


def answer_here(address: str) -> int:
    port = free_port()
    model = start(
        ["-m", "benchmarks.fake_llm", "--port", str(port)],
        port=port,
        core=max(os.sched_getaffinity(0)),
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings = shipped.environment(Path(folder), f"http://127.0.0.1:{port}/v1", 1)
            settings["DATABASE_URL"] = address
            key = shipped.prepare(settings)
            os.environ.update(settings)
            os.environ["LOG_LEVEL"] = "WARNING"
            import django

            django.setup()
            return 0 if judge(*uvloop.run(measure(key))) else 1
    finally:
        model.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    if address := parser.parse_args().here:
        return answer_here(address)
    status = 0
    server = os.environ.get("TEST_DATABASE_URL", "")
    for wanted in ("", server) if server else ("",):
        with database(wanted) as found:
            command = [sys.executable, "-m", "benchmarks.metering", "--here", found]
            status |= subprocess.run(command, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
