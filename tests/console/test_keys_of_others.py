"""Keys that users create for others: for whom, their access, and their records."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import Group, User
from django.test import Client

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.accounts.keys.own_keys import make_key
from apps.accounts.models import ApiKey, AuditEntry, ServiceAccount, Team
from apps.doors.json_consumer import JsonConsumer
from apps.notes.spaces import space_of
from tests.catalog.rows import make_operator
from tests.console.pages import browser_of, permit, script_of, staff_account
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

KEYS = "/api/keys/"
ADMIN = "/admin/accounts/apikey/"


def operator() -> User:
    names = ("add_apikey", "change_apikey", "view_apikey", "delete_apikey")
    return staff_account("olga", "access_all_applications", *names)


def account(name: str, *permissions: str, **fields: Any) -> User:
    user = User.objects.create_user(name, email=f"{name}@example.org", **fields)
    permit(user, *permissions)
    return user


def make_accounts() -> None:
    account("ada")
    account("boss", "change_deployment")
    account("root", is_superuser=True)
    ServiceAccount.objects.create(user=account("robot"))
    member = account("member")
    member.groups.add(Group.objects.get(name="administrator"))


@each_row(
    ("name", "may"),
    [("ada", True), ("robot", True), ("olga", True)]
    + [(name, False) for name in ("boss", "root", "member")],
)
def test_a_key_for_somebody_else_is_made_only_for_those_whom_one_manages(name, may):
    User.objects.all().delete()
    olga = operator()
    make_accounts()
    user = User.objects.get(username=name)

    by_script = script_of(olga).post(KEYS, {"name": "x", "user": name})
    in_admin = browser_of(olga).post(f"{ADMIN}add/", {"name": "y", "user": user.pk})

    assert (by_script.status_code, in_admin.status_code) == ((201, 302) if may else (400, 200))
    assert list(ApiKey.objects.values_list("user", "created_by")) == [(user.pk, olga.pk)] * 2 * may
    assert may or "You cannot manage this account" in str(by_script.json())


@each_row("name", ["boss", "root"])
def test_a_key_of_somebody_whom_one_does_not_manage_can_only_be_revoked(name):
    User.objects.all().delete()
    olga = operator()
    make_accounts()
    row, _ = ApiKey.objects.create_key(name="theirs", user=User.objects.get(username=name))
    address = f"{KEYS}{row.prefix}/"
    script, browser = script_of(olga), browser_of(olga)

    changed = script.patch(address, {"name": "mine"})
    in_admin = browser.post(f"{ADMIN}{row.pk}/change/", {"name": "mine"})
    revoked = script.patch(address, {"revoked": True})

    assert (changed.status_code, in_admin.status_code, revoked.status_code) == (400, 403, 200)
    row.refresh_from_db()
    assert (row.name, row.revoked) == ("theirs", True)


async def caller_of_key(key: str) -> tuple[Caller, Caller]:
    """Return the caller at the gateway and at the conversations API."""
    headers = [(b"api-key", key.encode()), (b"host", b"localhost")]
    scope = {"type": "http", "method": "GET", "headers": headers, "client": ("10.0.0.1", 1)}
    consumer = JsonConsumer()
    consumer.scope = scope
    return await authenticate(scope), await consumer.caller()


async def test_a_key_reads_notes_and_sets_schedules_only_if_its_person_made_it():
    def make() -> tuple[dict[str, str], dict[str, int]]:
        olga = operator()
        make_accounts()
        ada = User.objects.get(username="ada")
        keys = {
            "own": make_key(Caller(f"user-{ada.pk}", "user", user_id=ada.pk), "own", None, ())[1],
            "old": ApiKey.objects.create_key(name="old", user=ada)[1],
            "installation": ApiKey.objects.create_key(name="all", created_by=olga)[1],
        }
        for name in ("ada", "robot"):
            answer = script_of(olga).post(KEYS, {"name": "x", "user": name})
            keys[f"olga for {name}"] = answer.json()["key"]
        own = script_of(olga).post(KEYS, {"name": "x", "user": "olga"})
        keys["olga for olga"] = own.json()["key"]
        return keys, dict(User.objects.values_list("username", "pk"))

    keys, people = await database_sync_to_async(make)()
    found = {}
    for name, key in keys.items():
        gateway, tasks = await caller_of_key(key)
        assert gateway.person == tasks.person
        space = await database_sync_to_async(space_of)(tasks)
        found[name] = (gateway.principal, gateway.person, space and space.owner)

    ada, robot, olga = people["ada"], people["robot"], people["olga"]
    assert found == {
        "own": (ada, ada, f"user-{ada}"),
        "old": (ada, None, None),
        "installation": (None, None, None),
        "olga for ada": (ada, None, None),
        "olga for robot": (robot, robot, f"user-{robot}"),
        "olga for olga": (olga, olga, f"user-{olga}"),
    }


def test_what_happens_to_keys_is_in_the_audit_and_their_owners_get_a_mail(
    settings, mailoutbox, django_capture_on_commit_callbacks
):
    settings.SENDS_MAIL = True
    olga = operator()
    make_accounts()
    script, browser = script_of(olga), browser_of(olga)

    with django_capture_on_commit_callbacks(execute=True):
        made = script.post(KEYS, {"name": "CI", "user": "ada"}).json()
        script.patch(f"{KEYS}{made['prefix']}/", {"name": "Build"})
        script.patch(f"{KEYS}{made['prefix']}/", {})
        row = ApiKey.objects.get()
        browser.post(ADMIN, {"action": "revoke", "_selected_action": [row.pk]})
        script.delete(f"{KEYS}{made['prefix']}/")
        script.post(KEYS, {"name": "mine", "user": "olga"})
        robot = script.post(KEYS, {"name": "robot", "user": "robot"}).json()

    told = AuditEntry.objects.filter(event__startswith="key.").order_by("pk")
    of_ada = f"API key {made['prefix']} of ada"
    mine = ApiKey.objects.get(name="mine").prefix
    assert list(told.values_list("event", "actor", "subject")) == [
        ("key.created", f"user-{olga.pk}", of_ada),
        ("key.changed", f"user-{olga.pk}", of_ada),
        ("key.revoked", f"user-{olga.pk}", of_ada),
        ("key.revoked", f"user-{olga.pk}", of_ada),
        ("key.created", f"user-{olga.pk}", f"API key {mine} of olga"),
        ("key.created", f"user-{olga.pk}", f"API key {robot['prefix']} of robot"),
    ]
    to_ada = [mail for mail in mailoutbox if mail.to == ["ada@example.org"]]
    assert len(to_ada) == 4
    assert "(olga) created the API key “CI” for your account" in to_ada[0].body
    assert "changed your API key “Build”" in to_ada[1].body
    assert "revoked your API key “Build”" in to_ada[2].body
    assert made["key"] not in json.dumps([mail.body for mail in mailoutbox])


def test_people_see_which_of_their_keys_do_not_reach_their_notes():
    ada = account("ada")
    ApiKey.objects.create_key(name="theirs", user=ada, created_by=make_operator())
    own, _ = ApiKey.objects.create_key(name="own", user=ada, created_by=ada)
    page: Client = browser_of(ada)

    shown = page.get("/account/").text
    revoked = page.post("/account/keys/revoke/", {"prefix": own.prefix})

    assert shown.count("Only keys that you create yourself can access") == 1
    assert revoked.status_code == 302
    last = AuditEntry.objects.latest("pk")
    assert (last.event, last.actor) == ("key.revoked", f"user-{ada.pk}")


def test_scripts_do_not_learn_which_accounts_and_teams_exist():
    olga, ann = operator(), staff_account("ann", "add_apikey")
    account("root", is_superuser=True)
    Team.objects.create(group=Group.objects.create(name="secret"))
    asked = [(olga, "user", "root"), (ann, "user", "root"), (ann, "team", "secret")]

    for user, name, hidden in asked:
        told = [
            script_of(user).post(KEYS, {"name": "x", name: one}).json()
            for one in (hidden, "nothing")
        ]
        assert str(told[0]).replace(hidden, "nothing") == str(told[1])
    assert not ApiKey.objects.exists()
