"""Webhooks, subscriptions and deliveries in the admin: secrets are shown once, and rows of others
are hidden."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from apps.catalog.models import Change, Grant, Role
from apps.triggers.access_problems import NO_APPLICATION
from apps.triggers.models import TEXT_NEEDS_PERMISSION, Delivery, Subscription, Webhook, WebhookCall
from apps.triggers.webhook_secrets import hash_of
from tests.catalog.rows import make_application
from tests.contract import proves
from tests.triggers.outgoing.test_deliveries import make_subscription
from tests.triggers.programs import make_account, make_webhook

pytestmark = pytest.mark.django_db

WEBHOOKS = "/admin/triggers/webhook/"
SUBSCRIPTIONS = "/admin/triggers/subscription/"
DELIVERIES = "/admin/triggers/delivery/"


@pytest.fixture
def boss(client: Client) -> User:
    user = User.objects.create_superuser("boss")
    client.force_login(user)
    return user


def sign_in_as_operator(client: Client) -> User:
    user = User.objects.create_user("operator", is_staff=True)
    names = [
        f"{action}_{row}"
        for action in ("add", "change", "delete", "view")
        for row in ("webhook", "subscription")
    ]
    user.user_permissions.set(
        Permission.objects.filter(codename__in=[*names, "view_delivery", "view_application"])
    )
    client.force_login(user)
    return user


def typed_webhook(application: Any, account: Any, **fields: Any) -> dict[str, Any]:
    return {
        "name": "Shop",
        "application": application.pk,
        "account": account.pk,
        "check_kind": "signature",
        "is_enabled": "on",
        "template": "Order ${body.id}",
        "conversation_kind": "new",
        "requests_per_minute": "60",
        "answer_minutes": "",
        **fields,
    }


def typed_subscription(**fields: Any) -> dict[str, Any]:
    return {
        "name": "Told",
        "url": "https://example.org/events",
        "is_enabled": "on",
        "application": "",
        "events": ["run.done", "run.failed"],
        **fields,
    }


def shown_secret(page: str) -> str:
    found = re.search(r'id="shown-secret" readonly value="([^"]+)"', page)
    return found[1] if found else ""


@proves("webhooks")
def test_a_webhook_is_made_and_its_secret_shown_once_and_never_recorded(client: Client, boss: User):
    sent = typed_webhook(make_application(), make_account())

    first = client.post(f"{WEBHOOKS}add/", sent, follow=True).content.decode()
    again = client.get(f"{WEBHOOKS}{Webhook.objects.get().pk}/secret/").content.decode()
    form = client.get(f"{WEBHOOKS}{Webhook.objects.get().pk}/change/").content.decode()

    webhook = Webhook.objects.get()
    secret = shown_secret(first)
    assert secret.startswith("whsec_")
    assert webhook.secret == secret
    assert shown_secret(again) == ""
    assert secret not in form + again
    assert f"/hooks/{webhook.uuid}" in form
    [change] = Change.objects.filter(kind="triggers.webhook")
    assert secret not in f"{change.before}{change.after}"


def test_a_new_secret_takes_the_place_of_the_former_one(client: Client, boss: User):
    webhook, former = make_webhook(make_application(), check_kind=Webhook.Check.KEY)

    page = client.post(f"{WEBHOOKS}{webhook.pk}/secret/renew/", follow=True).content.decode()

    new = shown_secret(page)
    assert new not in ("", former)
    assert Webhook.objects.get().key_hash == hash_of(new)
    assert client.get(f"{WEBHOOKS}{webhook.pk}/secret/renew/").status_code == 405


def test_the_page_of_a_webhook_says_what_it_was_sent_and_why_it_does_not_ask(
    client: Client, boss: User
):
    webhook, _ = make_webhook(make_application(), problem="The service account is closed.")
    User.objects.filter(pk=webhook.account.user_id).update(is_active=False)
    call = WebhookCall.objects.create(
        webhook=webhook, message_id="m", task=uuid4(), conversation=uuid4()
    )

    page = client.get(f"{WEBHOOKS}{webhook.pk}/change/").content.decode()
    listed = client.get(WEBHOOKS).content.decode()

    assert str(call.task) in page
    assert "The service account is closed." in page
    assert "The service account is closed." in listed


def test_a_webhook_whose_account_may_not_use_its_application_is_saved_with_a_warning(
    client: Client, boss: User
):
    application, account = make_application(is_shared=False), make_account()

    made = client.post(f"{WEBHOOKS}add/", typed_webhook(application, account), follow=True)
    state = client.get(WEBHOOKS).content.decode()
    Grant.objects.create(application=application, user=account.user, role=Role.USER)

    assert f"The webhook rejects all messages: {NO_APPLICATION}" in made.content.decode()
    assert NO_APPLICATION in state
    assert NO_APPLICATION not in client.get(WEBHOOKS).content.decode()


def test_a_template_that_is_broken_json_is_refused_at_its_field(client: Client, boss: User):
    sent = typed_webhook(make_application(), make_account(), template='{"$if": ')

    page = client.post(f"{WEBHOOKS}add/", sent).content.decode()

    assert "This begins like a JSON object, but is not valid. Fix the JSON, or use a text." in page
    assert not Webhook.objects.exists()


@proves("webhooks")
def test_operators_see_and_edit_webhooks_of_applications_that_they_edit(client: Client):
    operator = sign_in_as_operator(client)
    mine = make_application("mine", owner=operator)
    others = make_application("others")
    own, _ = make_webhook(mine)
    foreign, _ = make_webhook(others)
    strong = make_account("strong")
    strong.user.is_superuser = True
    strong.user.save()

    listed = client.get(WEBHOOKS).content.decode()
    refused_application = client.post(
        f"{WEBHOOKS}add/", typed_webhook(others, make_account("weak"))
    ).content.decode()
    refused_account = client.post(f"{WEBHOOKS}add/", typed_webhook(mine, strong)).content.decode()
    renewed = client.post(f"{WEBHOOKS}{foreign.pk}/secret/renew/")

    assert (f"/webhook/{own.pk}/" in listed, f"/webhook/{foreign.pk}/" in listed) == (True, False)
    assert "Select a valid choice" in refused_application
    assert "Choose an account that you can manage." in refused_account
    assert renewed.status_code == 404
    assert Webhook.objects.count() == 2


def test_a_subscription_belongs_to_who_makes_it(client: Client):
    operator = sign_in_as_operator(client)

    page = client.post(f"{SUBSCRIPTIONS}add/", typed_subscription(), follow=True).content.decode()

    row = Subscription.objects.get()
    assert (row.owner, row.events, row.application) == (operator, ["run.done", "run.failed"], None)
    assert shown_secret(page) == row.secret != ""
    assert client.get(f"{SUBSCRIPTIONS}{row.pk}/change/").status_code == 200


def test_only_those_who_may_read_answers_have_them_sent(client: Client):
    sign_in_as_operator(client)

    page = client.post(f"{SUBSCRIPTIONS}add/", typed_subscription(has_text="on"))

    assert page.context["adminform"].form.errors == {"has_text": [TEXT_NEEDS_PERMISSION]}
    assert not Subscription.objects.exists()


def test_subscriptions_and_deliveries_of_others_are_hidden(client: Client):
    operator = sign_in_as_operator(client)
    mine = make_application("mine", owner=operator)
    own = make_subscription("http://127.0.0.1:1/own", owner=operator, application=mine)
    foreign = make_subscription("http://127.0.0.1:1/foreign")
    for row, slug in ((own, "mine"), (foreign, "others")):
        Delivery.objects.create(
            subscription=row, event="run.done", run=uuid4(), door="page", application=slug
        )

    listed = client.get(SUBSCRIPTIONS).content.decode()
    deliveries = client.get(DELIVERIES).content.decode()

    assert ("/own" in listed, "/foreign" in listed) == (True, False)
    assert (">Mine<" in deliveries, ">others<" in deliveries) == (True, False)
    assert client.get(f"{SUBSCRIPTIONS}{foreign.pk}/change/").status_code == 302


def test_what_was_given_up_is_sent_again_by_whoever_may_change_the_subscription(client: Client):
    operator = sign_in_as_operator(client)
    mine = make_application("mine", owner=operator)
    own = make_subscription("http://127.0.0.1:1/own", owner=operator, application=mine)
    dead = Delivery.objects.create(
        subscription=own,
        event="run.done",
        run=uuid4(),
        door="page",
        application="mine",
        status="dead",
        attempts=5,
        response_status=500,
        error="The receiver returned status 500.",
    )

    listed = client.get(f"{DELIVERIES}?status__exact=dead").content.decode()
    client.post(DELIVERIES, {"action": "retry", "_selected_action": [dead.pk]})

    row = Delivery.objects.get()
    assert "The receiver returned status 500." in listed
    assert (row.status, row.attempts) == ("due", 0)


def test_enabling_a_subscription_again_forgets_why_it_was_disabled(client: Client, boss: User):
    row = make_subscription("https://example.org/x", owner=boss, is_enabled=False, problem="410")

    sent = typed_subscription(seen_version=row.version, base_version=row.version)
    client.post(f"{SUBSCRIPTIONS}{row.pk}/change/", sent)

    row.refresh_from_db()
    assert (row.is_enabled, row.problem) == (True, "")
