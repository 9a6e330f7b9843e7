"""OPTIONS of the detail addresses of `/api/`, outside of any transaction."""

from __future__ import annotations

import pytest

from apps.console.urls import router
from tests.writes.api import API
from tests.writes.calls import Write, route_of, send
from tests.writes.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

READ_ONLY = (
    "applications/travel/export/",
    "applications/hotel/versions/",
    "applications/hotel/versions/1/",
    "case-runs/{w.case_run.pk}/",
    "feedback/{w.feedback.pk}/transcript/",
    "runs/{w.open_run.pk}/",
    "runs/{w.open_run.pk}/requests/",
)


def test_options_of_each_detail_address_need_no_transaction(world: World):
    paths = {write.path.partition("?")[0] for write in API} | {f"/api/{one}" for one in READ_ONLY}
    asked = {path: Write("OPTIONS", path, None, kind="json") for path in paths}
    patterns = {str(one.pattern).removeprefix("^") for one in router.urls}

    routes = {f"api/{pattern}" for pattern in patterns if "(?P<" in pattern}
    assert routes - {route_of(write, world) for write in asked.values()} == set()
    statuses = {path: send(world, write, None).status for path, write in asked.items()}
    assert statuses == dict.fromkeys(paths, 200)
