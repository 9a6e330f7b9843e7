"""Values that a database may refuse are refused by name or stored: never a 500 or a partial write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection

from tests.writes.calls import UNCOUNTED, Write, body_of, send
from tests.writes.edges import TEXTS, edges, paths
from tests.writes.tables import TABLES
from tests.writes.world import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.full,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite takes almost any value; PostgreSQL tests."
    ),
]


@pytest.mark.parametrize(
    "most", [pytest.param(2, id="some"), pytest.param(len(TEXTS), marks=pytest.mark.soak, id="all")]
)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.timeout(900)  # each field of each form, several times
def test_what_cannot_be_stored_is_refused(table: str, most: int, world: World):
    """Each part of a body contains NUL and `most` other odd values, chosen by the seed of the run."""
    failures = []

    for write in TABLES[table](world):
        body = body_of(write, world)
        for name, edge in () if write.is_like_another else edges(write, body, most):
            failures += told(write, name, problem_of(world, write, edge))
        for path in paths(write):
            failures += told(write, path, problem_of(world, replace(write, path=path), body))

    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


def told(write: Write, what: str, problem: str) -> list[str]:
    return [f"{write.name}, {what[:80]}: {problem}"] if problem else []


def problem_of(world: World, write: Write, body: object) -> str:
    """Return the problem of the answer or of the call's remaining changes, or ""."""
    outcome = send(world, write, body)
    if outcome.status >= 500 and outcome.status != write.status:
        return f"{outcome.status}: {outcome.words}"
    if outcome.timeless:
        return f"{outcome.status} stores times out of bounds in {sorted(outcome.timeless)}"
    is_refused = outcome.status >= 400 and (write.kind != "frames" or len(write.body) == 1)
    used = {"accounts_apikey"} if write.by_key else set()  # it was used just now
    kept = outcome.changed - UNCOUNTED - used if is_refused else frozenset()
    return f"{outcome.status} leaves {sorted(kept)}: {outcome.words}" if kept else ""
