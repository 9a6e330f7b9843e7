from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.tables import each_row


def half(number: int, expected: int, divisor: int) -> None:
    assert number // divisor == expected


async def half_later(number: int, expected: int, divisor: int) -> None:
    half(number, expected, divisor)


async def run(test: Any, *rows: tuple[int, Any]) -> None:
    result = each_row(("number", "expected"), rows)(test)(divisor=2)
    if inspect.isawaitable(result):
        await result


@pytest.mark.parametrize("test", [half, half_later])
async def test_every_failing_row_is_reported_and_no_other(test: Any):
    with pytest.raises(BaseExceptionGroup, match="2 rows failed") as failed:
        await run(test, (2, 1), (4, 1), (6, 3), (8, "x" * 100))

    notes = [failure.__notes__ for failure in failed.value.exceptions]
    shown = "x" * 79
    assert notes == [["Row: number=4, expected=1"], [f"Row: number=8, expected='{shown}"]]


@pytest.mark.parametrize("test", [half, half_later])
async def test_a_single_failure_is_raised_itself(test: Any):
    with pytest.raises(AssertionError, match="4 // 2"):
        await run(test, (2, 1), (4, 1))


def test_a_row_that_does_not_raise_fails():
    @each_row("text", ["1", "x"])
    def refuse(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(pytest.fail.Exception) as failed:
        refuse()

    assert failed.value.__notes__ == ["Row: text='1'"]


def test_tables_of_tables_run_every_combination():
    seen = list[tuple[int, int]]()

    @each_row("a", [1, 2])
    @each_row("b", [3, 4])
    def note(a: int, b: int) -> None:
        seen.append((a, b))

    note()

    assert seen == [(1, 3), (1, 4), (2, 3), (2, 4)]


@each_row("number", [1, 2, 3])
def test_fixtures_and_rows_reach_a_test_together(number: int, tmp_path: Path):
    (tmp_path / str(number)).write_text("")

    assert len(list(tmp_path.iterdir())) == number
