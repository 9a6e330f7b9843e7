"""Every view, API, door and frame that writes is called once and makes the expected changes."""

from __future__ import annotations

import pytest

from quickapps_site.asgi import doors
from tests.writes.admin import forbidden_pages
from tests.writes.calls import Outcome, Write, body_of, route_of, send
from tests.writes.doors import ROUTES
from tests.writes.programs import FRAMES
from tests.writes.routes import frame_types, reason, routes
from tests.writes.tables import TABLES, all_writes
from tests.writes.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.mark.slow("makes every write once, or with every odd value")
@pytest.mark.parametrize("table", TABLES)
def test_every_write_does_what_it_is_for(table: str, world: World):
    failures = []

    for write in TABLES[table](world):
        outcome = send(world, write, body_of(write, world))
        if problem := problem_of(write, outcome):
            failures.append(f"{write.name}: {problem}")

    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


def problem_of(write: Write, outcome: Outcome) -> str:
    """Return the difference from the table, or ""."""
    if outcome.status != write.status:
        return f"{outcome.status} instead of {write.status}: {outcome.words}"
    wanted = write.changes._meta.db_table if write.changes is not None else ""
    if wanted and wanted not in outcome.changed:
        return f"changed {sorted(outcome.changed)}, not {wanted}. {outcome.words}"
    return ""


def test_every_route_that_writes_is_called(world: World):
    requests = [write for write in all_writes(world) if write.kind != "frames"]
    called = {(write.method, route_of(write, world)) for write in requests}
    known = {*routes(), *(("POST", str(one.pattern)) for one in ROUTES)}
    forbidden = set(forbidden_pages(world))

    uncalled = {one for one in known - called - forbidden if not reason(one[1])}

    if uncalled:
        listed = "\n".join(f"{method} {route}" for method, route in sorted(uncalled))
        pytest.fail(f"Add a Write for each, or its reason to READ_ONLY:\n{listed}", pytrace=False)


def test_all_routes_of_doors_are_known():
    list_of_models = {"^v1/models/?$"}  # for the clients of two APIs; it writes nothing
    served = {str(route.pattern) for route in doors}

    assert served - {str(route.pattern) for route in ROUTES} == list_of_models


def test_every_type_of_frame_is_sent():
    sent = {(one["type"], one.get("kind", "")) for write in FRAMES for one in write.body}

    assert frame_types() - sent == set()
