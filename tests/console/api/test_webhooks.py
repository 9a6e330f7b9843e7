"""`/api/webhooks/` and `/api/subscriptions/`."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from rest_framework.test import APIClient

from apps.catalog.models import Grant, Role
from apps.schedules.models import Schedule
from apps.triggers.access_problems import NO_APPLICATION
from apps.triggers.models import TEXT_NEEDS_PERMISSION, Subscription, Webhook
from apps.triggers.webhook_secrets import hash_of
from tests.catalog.rows import make_application, make_operator
from tests.contract import proves
from tests.triggers.programs import make_account, make_webhook

pytestmark = pytest.mark.django_db

WEBHOOKS = "/api/webhooks/"
SCHEDULES = "/api/schedules/"
SUBSCRIPTIONS = "/api/subscriptions/"


@pytest.fixture
def operator() -> User:
    return make_operator()


@pytest.fixture
def api(operator: User) -> APIClient:
    client = APIClient()
    client.force_login(operator)
    return client


def webhook_of(application: str, account: str, **fields: Any) -> dict[str, Any]:
    return {"name": "Shop", "application": application, "account": account, **fields}


def statuses(*answers: Any) -> list[int]:
    return [one.status_code for one in answers]


def test_a_webhook_is_made_read_changed_and_deleted_and_its_secret_is_told_once(api: APIClient):
    make_application("orders")
    make_account("robot")

    created = api.post(WEBHOOKS, webhook_of("orders", "robot"))
    address = f"{WEBHOOKS}{created.data['id']}/"
    webhook = Webhook.objects.get()
    changed = api.patch(address, {"template": "Order ${body.id}", "answer_minutes": 60})
    read = api.get(address)
    fixed = api.patch(address, {"check_kind": "key"})
    renewed = api.post(f"{address}secret/")
    again = Webhook.objects.get()
    deleted = api.delete(address)

    assert statuses(created, changed, read, fixed, renewed, deleted) == [
        201, 200, 200, 400, 200, 204,
    ]  # fmt: skip
    assert created.data["secret"] == webhook.secret
    assert created.data["address"] == f"/hooks/{webhook.uuid}"
    assert (changed.data["secret"], read.data["secret"]) == (None, None)
    assert renewed.data["secret"] == again.secret != webhook.secret
    assert read.data["template"] == "Order ${body.id}"


def test_a_webhook_reports_that_its_account_may_not_use_its_application(api: APIClient):
    application, account = make_application("orders", is_shared=False), make_account("robot")

    created = api.post(WEBHOOKS, webhook_of("orders", "robot"))
    Grant.objects.create(application=application, user=account.user, role=Role.USER)
    granted = api.patch(f"{WEBHOOKS}{created.data['id']}/", {"name": "Orders"})

    assert (created.status_code, created.data["problem"]) == (201, NO_APPLICATION)
    assert (granted.status_code, granted.data["problem"]) == (200, "")


def test_a_key_is_kept_as_a_hash(api: APIClient):
    make_application("orders")
    make_account("robot")

    created = api.post(WEBHOOKS, webhook_of("orders", "robot", check_kind="key"))

    row = Webhook.objects.get()
    assert (row.key_hash, row.secret) == (hash_of(created.data["secret"]), "")


def test_a_subscription_is_the_caller_s_and_its_problem_goes_when_it_is_enabled(
    api: APIClient, operator: User
):
    sent = {"name": "ERP", "url": "https://erp.example.org/x", "events": ["run.done"]}
    created = api.post(SUBSCRIPTIONS, sent)
    address = f"{SUBSCRIPTIONS}{created.data['id']}/"
    Subscription.objects.update(is_enabled=False, problem="410")
    enabled = api.patch(address, {"is_enabled": True})
    wrong = api.patch(address, {"events": ["run.begun"]})
    nowhere = api.patch(address, {"url": "ftp://example.org"})

    assert statuses(created, enabled, wrong, nowhere) == [201, 200, 400, 400]
    assert (created.data["owner"], created.data["application"]) == (operator.username, None)
    assert created.data["secret"] == Subscription.objects.get().secret
    assert (enabled.data["problem"], enabled.data["secret"]) == ("", None)


def test_only_those_who_may_read_answers_have_them_sent():
    boss = APIClient()
    boss.force_login(User.objects.create_superuser("boss"))
    olga = User.objects.create_user("olga", is_staff=True)
    names = [f"{action}_subscription" for action in ("add", "change", "view")]
    olga.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = APIClient()
    client.force_login(olga)
    make_application("desk", owner=olga)
    sent = {"name": "ERP", "url": "https://erp.example.org/x", "events": ["run.done"]}

    refused = client.post(SUBSCRIPTIONS, {**sent, "application": "desk", "has_text": True})
    plain = client.post(SUBSCRIPTIONS, {**sent, "application": "desk"})
    address = f"{SUBSCRIPTIONS}{plain.data['id']}/"
    changed = boss.patch(address, {"has_text": True})
    redirected = client.patch(address, {"url": "https://other.example.org/x"})
    ended = client.patch(address, {"has_text": False})

    assert statuses(refused, plain, changed, redirected, ended) == [400, 201, 200, 400, 200]
    for answer in (refused, redirected):
        [error] = answer.json()["errors"]
        assert error == {"path": "has_text", "message": TEXT_NEEDS_PERMISSION}


def test_an_address_that_no_delivery_may_reach_is_refused_when_it_is_set(
    api: APIClient, settings: Any
):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["10.0.0.1"]
    sent = {"name": "ERP", "events": ["run.done"]}

    refused = [
        api.post(SUBSCRIPTIONS, {**sent, "url": url})
        for url in ("http://127.0.0.1/", "http://169.254.169.254/", "http://localhost/")
    ]
    allowed = api.post(SUBSCRIPTIONS, {**sent, "url": "http://10.0.0.1/x"})
    settings.PRIVATE_NETWORK_ALLOWLIST = []
    switched_off = api.patch(f"{SUBSCRIPTIONS}{allowed.data['id']}/", {"is_enabled": False})

    assert [[one["path"] for one in answer.json()["errors"]] for answer in refused] == [["url"]] * 3
    assert refused[0].json()["errors"][0]["message"] == (
        "The host '127.0.0.1' is on a private network. If the server may contact it, add 127.0.0.1 "
        "to the setting PRIVATE_NETWORK_ALLOWLIST."
    )
    assert statuses(allowed, switched_off) == [201, 200]


@proves("webhooks")
def test_operators_reach_rows_of_applications_that_they_edit():
    person = User.objects.create_user("olga", is_staff=True)
    names = [f"{action}_webhook" for action in ("add", "change", "delete", "view")]
    person.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = APIClient()
    client.force_login(person)
    mine, others = make_application("mine", owner=person), make_application("others")
    own, _ = make_webhook(mine)
    foreign, _ = make_webhook(others)
    strong = make_account("strong")
    strong.user.user_permissions.add(Permission.objects.get(codename="delete_user"))

    listed = client.get(WEBHOOKS)
    hidden = client.get(f"{WEBHOOKS}{foreign.pk}/")
    elsewhere = client.post(WEBHOOKS, webhook_of("others", own.account.user.username))
    as_stronger = client.post(WEBHOOKS, webhook_of("mine", "strong"))
    renewed = client.post(f"{WEBHOOKS}{foreign.pk}/secret/")

    assert [row["id"] for row in listed.data["results"]] == [own.pk]
    assert statuses(hidden, elsewhere, as_stronger, renewed) == [404, 400, 400, 404]
    assert client.get(SUBSCRIPTIONS).status_code == 403


def test_who_may_only_add_does_not_renew_a_secret():
    person = User.objects.create_user("olga", is_staff=True)
    names = ("add_webhook", "view_webhook")
    person.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = APIClient()
    client.force_login(person)
    own, secret = make_webhook(make_application("mine", owner=person))

    refused = client.post(f"{WEBHOOKS}{own.pk}/secret/")

    assert (refused.status_code, Webhook.objects.get().secret) == (403, secret)


def test_an_account_that_reaches_an_application_of_others_cannot_be_used():
    olga = User.objects.create_user("olga", is_staff=True)
    olga.groups.add(Group.objects.get(name="operator"))
    api = APIClient()
    api.force_login(olga)
    mine = make_application("mine", owner=olga)
    account = make_account("robot")
    Grant.objects.create(application=mine, user=account.user, role=Role.USER)
    webhook = api.post(WEBHOOKS, webhook_of("mine", "robot"))
    address = f"{WEBHOOKS}{webhook.data['id']}/"
    schedule = {"application": "mine", "account": "robot", "name": "x", "message": "y"}
    times = {"kind": "cron", "expression": "@daily"}

    made = api.post("/api/schedules/", schedule | times)
    plan = f"/api/schedules/{made.data['id']}/"
    Grant.objects.create(application=make_application("private"), user=account.user, role=Role.USER)
    refused = [
        api.post(WEBHOOKS, webhook_of("mine", "robot")),
        api.post("/api/schedules/", schedule | times),
        api.patch(address, {"template": "Ask private."}),
        api.post(f"{address}secret/"),
        api.patch(plan, {"message": "Ask private."}),
    ]
    read, deleted = api.get(address), api.delete(address)

    assert statuses(webhook, made) == [201, 201]
    assert statuses(*refused) == [400, 400, 403, 403, 400]
    assert "Choose an account that you can manage." in str(refused[0].data)
    assert statuses(read, deleted) == [200, 204]
    assert Webhook.objects.filter(application=mine).count() == 0


def schedule_of(application: str, account: str, **fields: Any) -> dict[str, Any]:
    times = {"kind": "cron", "expression": "@daily"}
    return {"message": "Hi", **times, **webhook_of(application, account), **fields}


def test_the_last_operator_who_saves_is_responsible_for_the_use_of_the_account(api: APIClient):
    application, account = make_application("orders"), make_account("robot")
    other = User.objects.create_superuser("other")
    webhook = api.post(WEBHOOKS, webhook_of("orders", "robot")).data["id"]
    schedule = api.post(SCHEDULES, schedule_of("orders", "robot")).data["id"]
    first = savers()

    again = APIClient()
    again.force_login(other)
    for url in (f"{WEBHOOKS}{webhook}/", f"{SCHEDULES}{schedule}/"):
        assert again.patch(url, {"name": "Later"}).status_code == 200
    second = savers()
    api.post(f"{WEBHOOKS}{webhook}/secret/")
    api.patch(f"{SCHEDULES}{schedule}/", {"is_paused": True})
    api.patch(f"{SCHEDULES}{schedule}/", {"is_paused": False})

    assert (first, second, savers()) == (["operator"] * 2, ["other"] * 2, ["operator"] * 2)
    assert (application.webhooks.count(), account.webhooks.count()) == (1, 1)


def savers() -> list[str]:
    return [str(row.get().saved_by) for row in (Webhook.objects, Schedule.objects)]


@pytest.mark.parametrize("url", [WEBHOOKS, SCHEDULES])
def test_operators_do_not_learn_which_accounts_and_applications_exist(url: str):
    olga = User.objects.create_user("olga", is_staff=True)
    olga.groups.add(Group.objects.get(name="operator"))
    client = APIClient()
    client.force_login(olga)
    make_application("mine", owner=olga)
    make_application("others")
    make_account("own")
    strong = make_account("strong")
    strong.user.user_permissions.add(Permission.objects.get(codename="delete_user"))

    accounts = [client.post(url, schedule_of("mine", name)) for name in ("strong", "unknown")]
    applications = [client.post(url, schedule_of(name, "own")) for name in ("others", "unknown")]

    assert statuses(*accounts, *applications) == [400] * 4
    assert accounts[0].data == accounts[1].data
    assert applications[0].data == applications[1].data


@pytest.mark.parametrize("is_paused", [True, False])
def test_a_schedule_can_be_made_paused(api: APIClient, is_paused: bool):
    make_application("orders")
    make_account("robot")

    made = api.post(SCHEDULES, schedule_of("orders", "robot", is_paused=is_paused))

    row = Schedule.objects.get()
    assert (made.status_code, made.data["is_paused"]) == (201, is_paused)
    assert (row.is_paused, made.data["next_at"] is None) == (is_paused, is_paused)


@pytest.mark.parametrize("currency", ["NaN", "--1", "usd", "U\0D", "", "ДОЛ"])
def test_the_currency_of_a_schedule_is_that_of_a_budget(api: APIClient, currency: str):
    make_application("orders")
    make_account("robot")
    made = api.post(SCHEDULES, schedule_of("orders", "robot", budget_currency="EUR"))

    refused = [
        api.post(SCHEDULES, schedule_of("orders", "robot", budget_currency=currency)),
        api.patch(f"{SCHEDULES}{made.data['id']}/", {"budget_currency": currency}),
    ]

    assert statuses(made, *refused) == [201, 400, 400]
    assert [row.budget_currency for row in Schedule.objects.all()] == ["EUR"]
