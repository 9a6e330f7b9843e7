"""Counters of what processes, the database and Redis have done so far."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import psycopg
import redis

from benchmarks.killed_fleet import Program
from benchmarks.processes import Process

DATABASE = """
SELECT d.xact_commit + d.xact_rollback, d.tup_inserted + d.tup_updated + d.tup_deleted,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
FROM pg_stat_database AS d WHERE datname = current_database()
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """CPU in seconds, transactions, written rows, connections, and messages published through
    Redis."""

    web_cpu: float
    database_cpu: float
    transactions: int
    rows: int
    connections: int
    messages: int
    commands: int

    def since(self, before: Counts) -> dict[str, float]:
        names = [one.name for one in fields(self) if one.name != "connections"]
        return {name: getattr(self, name) - getattr(before, name) for name in names}


def read_counts(processes: list[Program], database: str, channel: str) -> Counts:
    with psycopg.connect(database, autocommit=True) as connection:
        backends = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        ).fetchall()
        row = connection.execute(DATABASE).fetchone()
        assert row is not None
        transactions, rows, connections = map(int, row)
    with redis.Redis.from_url(channel) as client:
        stats = client.info("commandstats")
        calls = {name: int(one["calls"]) for name, one in stats.items()}
    return Counts(
        sum(Process(one, 0).cpu() for one in processes),
        sum(cpu_of(pid) for (pid,) in backends),
        transactions,
        rows,
        connections - 1,  # the transaction of this function
        calls.get("cmdstat_publish", 0),
        sum(calls.values()),
    )


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a local process, or 0 if it runs elsewhere or has ended."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0
