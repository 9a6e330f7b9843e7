"""Requests that the API description allows, and odd ones, never return a 5xx."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from itertools import cycle, takewhile
from typing import Any

import hypothesis
import pytest
import requests
from django.contrib.auth.models import Permission, User
from django.db import connection, transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import given

from apps.process_state import reset
from tests.writes.calls import as_in_autocommit
from tests.writes.world import World

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.postgres,
    pytest.mark.full,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite takes almost any value; PostgreSQL tests."
    ),
]

BASE = "http://localhost"
EXAMPLES, SOAK_EXAMPLES = 3, 50
"""Requests per operation and kind of user; repeated in the soak tier."""
UNAVAILABLE = 503
"""The status of operations that call external services, which tests do not have."""


def operations() -> list[Any]:
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(public=True))
    return [found.ok() for found in schema.get_all_operations()]


def make_user(kind: str, world: World) -> User:
    if kind == "superuser":
        return User.objects.create_superuser("root")
    user = User.objects.create_user(f"{kind} 2", is_staff=kind == "operator")
    if kind == "operator":
        user.user_permissions.set(Permission.objects.all())
    return user


@pytest.mark.slow("sends odd requests to each address of the API")
@pytest.mark.parametrize("kind", ["superuser", "operator", "plain user"])
def test_no_request_is_answered_with_a_fault_of_the_server(kind: str, world: World):
    client = signed_in(make_user(kind, world))

    faults = [fault for one in operations() for fault in faults_of(one, client, EXAMPLES)]

    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@pytest.mark.soak
def test_no_request_of_many_is_either(world: World, request: pytest.FixtureRequest):
    client, found = signed_in(make_user("superuser", world)), operations()
    end = time.monotonic() + request.config.getoption("--soak-seconds")
    faults: list[str] = []

    for one in takewhile(lambda _: time.monotonic() < end, cycle(found)):
        faults += faults_of(one, client, SOAK_EXAMPLES, derandomize=False)

    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


def signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    client.force_login(user)
    return client


def faults_of(
    operation: Any, client: Client, examples: int, *, derandomize: bool = True
) -> Iterator[str]:
    """Return at most one fault of an operation, in the smallest request that causes it."""

    @hypothesis.settings(
        max_examples=examples,
        derandomize=derandomize,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @given(case=operation.as_strategy())
    def never_fails(case: Any) -> None:
        answer = send(client, case)
        assert answer.status_code < 500 or answer.status_code == UNAVAILABLE, words(case, answer)

    try:
        never_fails()
    except AssertionError as fault:
        yield f"{operation.label}: {fault}"


def send(client: Client, case: Any) -> Any:
    """Send the request, and roll back its changes."""
    sent = requests.Request(**case.as_transport_kwargs(base_url=BASE)).prepare()
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
    headers = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in sent.headers.items()
        if name != "Content-Length"
    }
    kind = headers.pop("Content-Type", "application/json")
    with transaction.atomic():
        with as_in_autocommit(set()):
            answer: Any = client.generic(
                sent.method or "GET", sent.path_url, body, kind, headers=headers
            )
        transaction.set_rollback(True)
    reset()
    return answer


def words(case: Any, answer: Any) -> str:
    error = getattr(answer, "exc_info", None) or sys.exc_info()
    told = "".join(traceback.format_exception_only(error[0], error[1])).strip() if error[0] else ""
    return f"{answer.status_code} {told[:300]} for {case.as_curl_command()[:400]}"
