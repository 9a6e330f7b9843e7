"""A database from before there were roles: who could do something still can, and nobody more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.accounts.buckets import caller_in
from apps.accounts.caller import Caller
from apps.accounts.key_holders import read_holder
from apps.accounts.models import ApiKey
from apps.catalog.access import accessible, usable
from apps.catalog.models import Application, Grant, Role
from tests.catalog.rows import manifest_with

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = [("accounts", "0003_audit"), ("catalog", "0007_place_items")]
ACTIONS = {"view": Role.EDITOR, "change": Role.EDITOR, "delete": Role.OWNER}
"""What the admin asks for, and the role that it takes now."""

APPLICATIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "public": {"is_public": True},
    "disabled": {"is_enabled": False},
    "public-disabled": {"is_public": True, "is_enabled": False},
    "owned": {"owner": "person"},
}
PEOPLE: dict[str, tuple[dict[str, bool], tuple[str, ...], str]] = {
    # Fields, permissions of their own, and a group.
    "person": ({}, (), ""),
    "closed": ({"is_active": False}, (), ""),
    "superuser": ({"is_superuser": True, "is_staff": True}, (), ""),
    "closed superuser": ({"is_superuser": True, "is_staff": True, "is_active": False}, (), ""),
    "staff": ({"is_staff": True}, (), ""),
    "viewer": ({"is_staff": True}, ("view_application",), ""),
    "editor": ({"is_staff": True}, ("view_application", "change_application"), ""),
    "editor of deployments": ({"is_staff": True}, ("change_deployment",), ""),
    "closed editor": ({"is_staff": True, "is_active": False}, ("change_application",), ""),
    "editor who is no staff": ({}, ("view_application", "change_application"), ""),
    "member of operators": ({"is_staff": True}, (), "operators"),
    "member of readers": ({"is_staff": True}, (), "readers"),
    "member of others": ({"is_staff": True}, (), "others"),
}
GROUPS = {
    "operators": ("view_application", "change_application", "delete_application"),
    "readers": ("view_application",),
    "others": (),
}
Matrix = dict[str, dict[str, list[str]]]


def migrate(targets: list[tuple[str, str]] | None = None) -> Any:
    """The models then. Without targets, to the newest."""
    executor = MigrationExecutor(connection)
    wanted = executor.loader.graph.leaf_nodes() if targets is None else targets
    executor.migrate(wanted)
    return executor.loader.project_state(wanted).apps


@pytest.fixture
def then() -> Iterator[Any]:
    yield migrate(BEFORE)
    migrate()


def fill(apps: Any) -> dict[str, str]:
    """Rows of every kind; the keys as they were shown."""
    permissions = apps.get_model("auth", "Permission").objects
    users, groups = apps.get_model("auth", "User").objects, apps.get_model("auth", "Group").objects
    for name, codenames in GROUPS.items():
        groups.create(name=name).permissions.set(permissions.filter(codename__in=codenames))
    for name, (fields, codenames, group) in PEOPLE.items():
        user = users.create(username=name, **fields)
        user.user_permissions.set(permissions.filter(codename__in=codenames))
        user.groups.set(groups.filter(name=group))
    rows = apps.get_model("catalog", "Application").objects
    for slug, fields in APPLICATIONS.items():
        owner = users.filter(username=fields.get("owner", "")).first()
        given = {"slug": slug, "title": slug, "manifest": manifest_with(), "version": 1}
        rows.create(**given | fields | {"owner": owner})
    return {name: make_key(apps, name) for name in ("wide", "scoped", "of nothing")}


def make_key(apps: Any, name: str) -> str:
    key, prefix, hashed = ApiKey.objects.key_generator.generate()
    row = apps.get_model("accounts", "ApiKey").objects.create(
        id=f"{prefix}.{hashed}",
        prefix=prefix,
        hashed_key=hashed,
        name=name,
        is_limited=name == "of nothing",
    )
    if name == "scoped":
        rows = apps.get_model("catalog", "Application").objects
        row.applications.set(rows.filter(slug__in=("plain", "disabled")))
    return str(key)


def old_rules() -> Matrix:
    """What the code of then allowed, for each action on each application."""
    enabled = [slug for slug, given in APPLICATIONS.items() if given.get("is_enabled", True)]
    found: Matrix = {
        "visitor": {"use": [slug for slug in enabled if APPLICATIONS[slug].get("is_public")]},
        "key wide": {"use": enabled},
        "key scoped": {"use": ["plain"]},
        "key of nothing": {"use": []},
    }
    for name, (fields, own, group) in PEOPLE.items():
        is_active, is_super = fields.get("is_active", True), fields.get("is_superuser", False)
        permitted = {*own, *GROUPS.get(group, ())}
        edits = is_active and fields.get("is_staff", False)
        found[name] = {"use": enabled if is_active else []} | {
            action: [*APPLICATIONS]
            if edits and (is_super or f"{action}_application" in permitted)
            else []
            for action in ACTIONS
        }
    return sorted_matrix(found)


def new_rules(keys: dict[str, str]) -> Matrix:
    found: Matrix = {"visitor": {"use": slugs(usable(Caller("session-1")))}}
    for name, written in keys.items():
        holder = read_holder(written)
        assert holder is not None
        key = Caller(f"key-{holder.prefix}", "key", **holder.limits)
        found[f"key {name}"] = {"use": slugs(usable(key))}
    for user in User.objects.all():
        caller = caller_in(user.pk)
        found[user.username] = {"use": slugs(usable(caller))} | {
            action: slugs(accessible(caller, role))
            if user.is_staff and user.has_perm(f"catalog.{action}_application")
            else []
            for action, role in ACTIONS.items()
        }
    return sorted_matrix(found)


def slugs(rows: Any) -> list[str]:
    return list(rows.values_list("slug", flat=True))


def sorted_matrix(matrix: Matrix) -> Matrix:
    return {
        who: {action: sorted(found) for action, found in actions.items()}
        for who, actions in matrix.items()
    }


def test_who_could_use_or_edit_an_application_still_can_and_nobody_else_also_on_the_way_back(then):
    """One test, because each way through the migrations takes seconds."""
    keys = fill(then)

    migrate()

    assert new_rules(keys) == old_rules()
    check_that_what_is_made_now_is_for_its_owner()
    person = User.objects.get(username="person")
    Grant.objects.create(application=Application.objects.get(slug="plain"), user=person)
    back = migrate(BEFORE)
    rows = back.get_model("catalog", "Application").objects
    assert sorted(rows.values_list("slug", flat=True)) == sorted(APPLICATIONS)
    assert back.get_model("accounts", "ApiKey").objects.count() == len(keys)
    migrate()
    assert new_rules(keys) == old_rules()


def check_that_what_is_made_now_is_for_its_owner() -> None:
    person = User.objects.get(username="person")

    made = Application.objects.create(slug="new", title="New", owner=person)

    can = [
        user.username for user in User.objects.all() if "new" in slugs(usable(caller_in(user.pk)))
    ]
    assert sorted(can) == ["editor", "editor who is no staff", "member of operators",
                           "member of readers", "person", "superuser", "viewer"]  # fmt: skip
    assert not AnonymousUser().has_perm("catalog.access_all_applications")
    made.delete()
