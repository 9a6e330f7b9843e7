"""Fallbacks and breakers in the admin of deployments."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from apps.workspace.local.breakers import breaker_store, key_of_row
from apps.workspace.local.models import Deployment
from tests.catalog.rows import make_deployment
from tests.console.admin.test_deployments import LIST, fields

pytestmark = pytest.mark.django_db


def fail(row: Deployment, times: int) -> None:
    for _ in range(times):
        async_to_sync(breaker_store().failed)(key_of_row(row.pk, row.version))


def breakers_shown(client: Client) -> dict[str, str]:
    listed = client.get(LIST).context["cl"]
    return {row.deployment_id: listed.model_admin.breaker(row) for row in listed.result_list}


def test_fallbacks_are_saved_in_the_order_of_their_lines(admin_client):
    make_deployment("b")
    make_deployment("a")

    admin_client.post(f"{LIST}add/", fields(fallbacks="b\r\n\r\n a \r\n"))

    assert Deployment.objects.get(deployment_id="gpt").fallbacks == ["b", "a"]


def test_a_mistake_stands_at_the_field_and_nothing_is_saved(admin_client):
    answer = admin_client.post(f"{LIST}add/", fields(fallbacks="gone"))

    assert answer.context["adminform"].form.errors == {
        "fallbacks": ["There is no deployment 'gone'. Name one of this installation, by its id."]
    }
    assert not Deployment.objects.exists()


def test_what_can_be_chosen_is_offered_and_what_is_skipped_says_why(admin_client):
    row = make_deployment("a", fallbacks=["gone", "off"])
    make_deployment("off", is_enabled=False)
    make_deployment("picture", kind="image")
    make_deployment("b", display_name="<b>")

    page = admin_client.get(f"{LIST}{row.pk}/change/")

    choices = page.context["adminform"].form.fields["fallbacks"].widget.choices
    assert [(one.deployment_id, one.problem) for one in choices] == [
        ("b", ""),
        ("off", "skipped: it is disabled"),
        ("gone", "skipped: there is no such chat model any more"),
    ]
    assert "&lt;b&gt;" in page.content.decode()


def test_an_open_breaker_is_shown_and_can_be_closed(admin_client, settings):
    settings.BREAKER_FAILURES = 2
    a, b, _ = make_deployment("a"), make_deployment("b"), make_deployment("e", kind="embedding")
    fail(a, 2)
    fail(b, 1)

    before = breakers_shown(admin_client)
    admin_client.post(LIST, {"action": "close_breakers", "_selected_action": [a.pk, b.pk]})
    after = breakers_shown(admin_client)

    assert before["a"].startswith("open until ")
    assert (before["b"], before["e"]) == ("closed", "none")
    assert after == {"a": "closed", "b": "closed", "e": "none"}


def test_a_deployment_that_is_saved_begins_with_a_closed_breaker(admin_client, settings):
    settings.BREAKER_FAILURES = 1
    row = make_deployment("a")
    fail(row, 1)

    row.save()

    assert breakers_shown(admin_client) == {"a": "closed"}


def test_before_a_deployment_goes_those_that_rely_on_it_are_named(admin_client):
    row = make_deployment("a")
    make_deployment("b", display_name="Bee", fallbacks=["a"])

    page = admin_client.get(f"{LIST}{row.pk}/delete/").content.decode()

    assert "a is a fallback of these, which go on without it:</p><ul><li>Bee</li></ul>" in page
