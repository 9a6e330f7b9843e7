"""Tables of rows within one test, for checks that are cheaper than a separate test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

Test = Callable[..., Any]
FAILURES = (Exception, pytest.fail.Exception, BaseExceptionGroup)
"""Exceptions with which a test, or a row of a nested table, fails."""
MOST_CHARACTERS = 80
"""The maximum length at which a failing row shows each value."""


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with each row, as `parametrize` does, but in one test that reports every failing row.

    Fixtures are set up once, so a row must not change what the next rows rely on.
    """
    columns = [names] if isinstance(names, str) else list(names)
    cases = [
        dict(zip(columns, [row] if isinstance(names, str) else row, strict=True)) for row in rows
    ]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            with every_failure() as row:
                for case in cases:
                    with row(case):
                        test(**fixtures, **case)

        @functools.wraps(test)
        async def run_async(**fixtures: Any) -> None:
            with every_failure() as row:
                for case in cases:
                    with row(case):
                        await test(**fixtures, **case)

        made: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        fixtures = [one for one in signature.parameters.values() if one.name not in columns]
        made.__signature__ = signature.replace(parameters=fixtures)
        return made  # type: ignore[no-any-return]

    return decorate


@contextmanager
def every_failure() -> Iterator[Callable[[Mapping[str, Any]], Any]]:
    """Raise the failures of the rows at the end: a single one unchanged, or several as a group."""
    failures: list[BaseException] = []

    @contextmanager
    def row(case: Mapping[str, Any]) -> Iterator[None]:
        try:
            yield
        except FAILURES as failure:
            failure.add_note(f"Row: {describe(case)}")
            failures.append(failure)

    yield row
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} rows failed", failures)


def describe(case: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r:.{MOST_CHARACTERS}}" for name, value in case.items())
