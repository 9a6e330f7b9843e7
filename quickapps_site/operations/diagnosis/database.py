"""Collects the database sections of the diagnostic report: round trips, clock, migrations and
tables.
"""

from collections import Counter
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from apps.migration_history import upgrade_problem
from quickapps_site.operations.databases import count_rows
from quickapps_site.operations.diagnosis.round_trips import clock_difference, measure
from quickapps_site.operations.known_migrations import known_migrations

SIZES = """
SELECT relname, greatest(reltuples, 0)::bigint, pg_total_relation_size(oid)
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 3 DESC
"""
CONNECTIONS = """
SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity
WHERE backend_type = 'client backend'
"""


def ask(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def database() -> dict[str, Any]:
    ask("SELECT 1")  # This connects.
    found: dict[str, Any] = {"engine": connection.vendor, **measure(lambda: ask("SELECT 1"))}
    if connection.vendor != "postgresql":
        [(version,)], [(pages,)], [(size,)] = (
            ask("SELECT sqlite_version()"),
            ask("PRAGMA page_count"),
            ask("PRAGMA page_size"),
        )
        return {**found, "version": version, "bytes": pages * size}
    [(version, size, extensions)] = ask(
        "SELECT version(), pg_database_size(current_database()),"
        " (SELECT array_agg(extname::text) FROM pg_extension)"
    )
    [(used, most)] = ask(CONNECTIONS)
    return {
        **found,
        "version": version,
        "bytes": size,
        "extensions": extensions,
        "connections": {"used": used, "most": most},
        "clock_ahead_seconds": clock_difference(database_time),
    }


def database_time() -> float:
    [(moment,)] = ask("SELECT extract(epoch FROM clock_timestamp())")
    return float(moment)


def migrations() -> dict[str, Any]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    applied = MigrationRecorder(connection).applied_migrations()
    return {
        "applied": dict(sorted(Counter(app for app, _ in applied).items())),
        "pending": [f"{one.app_label}.{one.name}" for one, _ in plan],
        "unknown": [".".join(one) for one in sorted({*applied} - known_migrations())],
        "problem": upgrade_problem(connection),
    }


def tables() -> dict[str, Any]:
    """Return the number of rows in each table. On PostgreSQL, the numbers are estimates, and the
    sizes in bytes are included.
    """
    if connection.vendor == "postgresql":
        return {name: {"rows": rows, "bytes": size} for name, rows, size in ask(SIZES)}
    with connection.cursor() as cursor:
        counted = count_rows(cursor, sorted(connection.introspection.table_names(cursor)))
    return {name: {"rows": rows} for name, rows in counted.items()}
