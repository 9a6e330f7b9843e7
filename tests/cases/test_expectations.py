"""Patterns and schemas of expectations are checked within limits, and refused otherwise."""

import asyncio
import json
import time
from typing import Any

import pytest

from apps.cases.expectations import expectation_problems, read_expectations
from apps.cases.judging import Attempt, Judge, Verdict, failures_of
from apps.cases.models import Case
from apps.cases.runner import CaseRunRefused, CaseRunRequest, begin
from tests.capabilities.service import Reply, Seen, serving
from tests.cases.rows import make_case
from tests.catalog.rows import make_application, make_deployment
from tests.tables import each_row

pytestmark = pytest.mark.django_db
BOMB = "(?:(?:(?:a{1000}){1000}){1000})"
SLOW = "^(a|aa)+$"
LONG = "a" * 60 + "!"


async def no_judge(one: Any, text: str) -> Verdict:
    raise AssertionError


async def failures(expectation: dict[str, Any], text: str, judge: Judge = no_judge) -> list[str]:
    found = await failures_of(read_expectations([expectation]), Attempt(text), judge)
    return [one.text for one in found]


@each_row(
    ("expectation", "problem"),
    [
        (
            {"kind": "matches", "pattern": BOMB},
            "expectations[0].pattern: the pattern has too many repetitions",
        ),
        (
            {"kind": "matches", "pattern": "("},
            "expectations[0].pattern: the pattern is not a regular",
        ),
        ({"kind": "matches", "pattern": "(" * 900}, "is nested too deeply"),
        (
            {"kind": "schema", "schema": {"$ref": "file:///etc/passwd"}},
            "expectations[0].schema: this JSON Schema cannot be used: $ref is “file:///etc/passwd”",
        ),
        (
            {"kind": "schema", "schema": {"properties": {"a": {"$ref": "//x/y"}}}},
            "are not supported",
        ),
        ({"kind": "schema", "schema": {"pattern": BOMB}}, "the pattern has too many repetitions"),
        (
            {"kind": "schema", "schema": {"patternProperties": {BOMB: {}}}},
            "has too many repetitions",
        ),
        ({"kind": "schema", "schema": {"type": "banana"}}, "type is “banana”"),
    ],
)
def test_what_cannot_be_checked_within_bounds_cannot_be_saved(expectation, problem):
    (found,) = expectation_problems([expectation])

    assert problem in found


async def test_nothing_is_fetched_for_a_schema():
    seen: list[Seen] = []

    async def answer(asked: Seen) -> Reply:
        seen.append(asked)
        return Reply(200, b'{"type": "string"}')

    async with serving(answer=answer) as service:
        for schema in ({"$ref": service.url}, {"items": {"$ref": f"{service.url}#/a"}}):
            assert expectation_problems([{"kind": "schema", "schema": schema}])

    assert seen == []


@each_row(
    ("expectation", "text", "failure"),
    [
        ({"kind": "matches", "pattern": SLOW}, LONG, "takes longer than 0.2 seconds"),
        ({"kind": "schema", "schema": {"pattern": SLOW}}, json.dumps(LONG), "takes longer than 1"),
        ({"kind": "schema", "schema": {"$ref": "#"}}, "1", "nested too deeply"),
        (
            {"kind": "schema", "schema": {"type": "object"}},
            "[1]",
            "The JSON does not match the schema",
        ),
        (
            {
                "kind": "schema",
                "schema": {"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}},
            },
            '```json\n[1, "2"]\n```',
            "[1]: '2' is not of type 'integer'",
        ),
        ({"kind": "schema", "schema": {"items": {"type": "integer"}}}, "[1, 2]", ""),
    ],
)
async def test_a_check_that_takes_too_long_fails_the_case_and_delays_nobody(
    expectation, text, failure
):
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    started = time.monotonic()
    found = await failures(expectation, text)
    seconds = time.monotonic() - started
    ticking.cancel()

    assert [failure in one for one in found] == [True] * bool(failure), found
    assert ticks >= int(seconds)


def test_a_stored_case_that_is_refused_today_is_named_when_it_is_run():
    make_deployment()
    application = make_application()
    case = make_case(application, "Fetches", {"kind": "contains", "text": "x"})
    stored = [{"kind": "schema", "schema": {"$ref": "http://127.0.0.1/"}}]
    Case.objects.filter(pk=case.pk).update(expectations=stored)

    with pytest.raises(CaseRunRefused, match=r"“Fetches” cannot run: expectations.*not supported"):
        begin(application, None, CaseRunRequest())
