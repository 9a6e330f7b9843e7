"""List test modules whose queries may behave differently on PostgreSQL: `-p tests.queries`.

A run on SQLite ends with a list of these modules, the kinds of their queries, and whether their
tests have the marker `postgres`, with which they also run on PostgreSQL.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pytest

PATTERNS = {
    "JSON": r"\bJSON_|\bjson_",
    "text": r"\bLIKE\b|\bREGEXP\b|\bLOWER\(|\bUPPER\(",
    "search": r"\bMATCH\b",
    "distinct": r"\bDISTINCT\b",
    "nulls": r"\bNULLS (FIRST|LAST)\b",
    "conflict": r"\bON CONFLICT\b|\bINSERT OR IGNORE\b",
    "window": r"\bOVER \(",
    "union": r"\bUNION\b|\bINTERSECT\b|\bEXCEPT\b",
    "dates": r"\bdjango_(date|time|datetime)\w*\(",
}
"""Kinds of statements, by patterns of their SQL on SQLite."""
KINDS = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
TOLD_APART = {"lock", "raw", "refused", "conflict", "nulls", "search", "union", "window", "dates"}
"""The other kinds occur in most modules and behave alike, except for a few that are marked by hand.
"""
OWN = re.compile(r"SAVEPOINT|PRAGMA|BEGIN|COMMIT|ROLLBACK|DELETE FROM \"\w+\"$|SELECT count\(\*\)")
"""Statements of Django and of the tests themselves."""


class Queries:
    """Kinds of queries by module. Queries of a fixture count for its tests."""

    def __init__(self) -> None:
        self.kinds: dict[str, set[str]] = defaultdict(set)
        self.marked: dict[str, bool] = defaultdict(lambda: True)
        self.module = ""
        self.is_compiled = False

    def note(self, kind: str) -> None:
        self.kinds[self.module].add(kind)

    def execute(self, run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        from django.db import DatabaseError

        for kind, pattern in KINDS.items():
            if pattern.search(sql):
                self.note(kind)
        if not self.is_compiled and not OWN.match(sql):
            self.note("raw")
        try:
            return run(sql, params, many, context)
        except DatabaseError:
            self.note("refused")
            raise

    @contextmanager
    def watched(self) -> Iterator[None]:
        from django.db import connection
        from django.db.models import QuerySet
        from django.db.models.sql.compiler import SQLCompiler, SQLInsertCompiler

        lock = QuerySet.select_for_update

        def select_for_update(rows: Any, *args: Any, **options: Any) -> Any:
            self.note("lock")
            return lock(rows, *args, **options)

        with ExitStack() as stack:
            stack.enter_context(connection.execute_wrapper(self.execute))
            stack.enter_context(mock.patch.object(QuerySet, "select_for_update", select_for_update))
            for compiler in (SQLCompiler, SQLInsertCompiler):
                wrapped = self.compiled(compiler.execute_sql)
                stack.enter_context(mock.patch.object(compiler, "execute_sql", wrapped))
            yield

    def compiled(self, execute_sql: Any) -> Any:
        def execute(*args: Any, **options: Any) -> Any:
            before, self.is_compiled = self.is_compiled, True
            try:
                return execute_sql(*args, **options)
            finally:
                self.is_compiled = before

        return execute

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if item.get_closest_marker("django_db") is None:
            return (yield)
        self.module = item.nodeid.partition("::")[0]
        self.marked[self.module] &= item.get_closest_marker("postgres") is not None
        with self.watched():
            return (yield)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("queries that may do something else on PostgreSQL")
        for module, kinds in sorted(self.kinds.items()):
            told = sorted(kinds & TOLD_APART)
            if told:
                missing = "" if self.marked[module] else "  without the marker"
                terminalreporter.line(f"{module}: {', '.join(told)}{missing}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Queries())
