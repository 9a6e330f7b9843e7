"""Unknown fields of request bodies are rejected, and read-only fields ignored."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from rest_framework.serializers import Serializer
from rest_framework.test import APIClient

import apps.console.api
from apps.console.api.strict_serializers import StrictFields
from tests.catalog.rows import make_application
from tests.console.api.test_webhooks import SCHEDULES, WEBHOOKS, schedule_of, webhook_of
from tests.triggers.programs import make_account

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _rows() -> None:
    make_application("orders")
    make_account("robot")


def test_every_serializer_of_the_api_is_strict():
    modules = [
        import_module(f"apps.console.api.{one.name}")
        for one in iter_modules(apps.console.api.__path__)
    ]

    lenient = {
        found.__name__
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Serializer)
        if found.__module__ == module.__name__ and not issubclass(found, StrictFields)
    }

    assert lenient == set()


@pytest.mark.parametrize(
    ("url", "body"),
    [
        (SCHEDULES, schedule_of("orders", "robot")),
        (WEBHOOKS, webhook_of("orders", "robot")),
        ("/api/subscriptions/", {"name": "x", "url": "https://x.org/", "events": ["run.done"]}),
        ("/api/keys/", {"name": "x"}),
        ("/api/teams/", {"name": "x"}),
        ("/api/secrets/", {"name": "x", "value": "y", "servers": ["x.org"]}),
        ("/api/budgets/", {"subject_kind": "all", "amount": 5, "window": "day", "unit": "tokens"}),
        ("/api/applications/orders/publish/", {}),
    ],
)
def test_unknown_fields_are_refused_with_their_names(
    api: APIClient, url: str, body: dict[str, Any]
):
    answer = api.post(url, {**body, "nmae": "x", "ü" * 200: 1})

    found = [one["message"] for one in answer.data["errors"]]
    assert answer.status_code == 400
    assert found[-2:] == ["Unknown field: 'nmae'.", f"Unknown field: '{'ü' * 100}'."]


def test_unknown_fields_are_listed_with_the_other_problems(api: APIClient):
    answer = api.post(SCHEDULES, {"nmae": "x", "application": "orders"})

    assert {one["path"] for one in answer.data["errors"]} == {"name", "message", "nmae"}
    assert answer.data["detail"] == "Nothing was saved."


@pytest.mark.parametrize(
    ("url", "body"),
    [(SCHEDULES, schedule_of("orders", "robot")), (WEBHOOKS, webhook_of("orders", "robot"))],
)
def test_what_was_fetched_can_be_sent_back(api: APIClient, url: str, body: dict[str, Any]):
    made = api.post(url, body).data
    address = f"{url}{made['id']}/"

    fetched = api.get(address).data
    answer = api.patch(address, fetched)

    assert (answer.status_code, answer.data.get("errors")) == (200, None)
