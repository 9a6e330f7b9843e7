"""Wide tables of cases: one test for all rows, which reports each row that fails."""

import functools
import inspect
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from asgiref.sync import async_to_sync

Test = Callable[..., Any]


def each_row(columns: str | tuple[str, ...], rows: Sequence[Any]) -> Callable[[Test], Test]:
    """Run a test once for each row, as `pytest.mark.parametrize` does, but within one test.

    All rows share the fixtures of the test, so it is for pure functions and for cheap calls that
    leave nothing behind. A parameter that is no column is a fixture.
    """
    names = (columns,) if isinstance(columns, str) else columns

    def decorate(test: Test) -> Test:
        call = async_to_sync(test) if inspect.iscoroutinefunction(test) else test

        @functools.wraps(test)
        def run(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for row in rows:
                values = (row,) if isinstance(columns, str) else row
                given = dict(zip(names, values, strict=True))
                title = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in given.items())
                with subtests.test(title):
                    call(**fixtures, **given)

        del run.__wrapped__  # or pytest would call it with the columns as fixtures
        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in names]
        subtests = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = signature.replace(parameters=[subtests, *fixtures])  # type: ignore[attr-defined]
        return run

    return decorate
