"""Every kind of application and caller, and the table of their access rights.

An application is named after how it is granted, and a caller after its identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from apps.accounts.models import ApiKey, ServiceAccount, Team
from apps.accounts.teams import TEAM
from apps.catalog.models import Application, Grant, Role
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST

CSRF = "c" * 32
HERE, ELSEWHERE = ("127.0.0.1", 50000), ("203.0.113.9", 50000)

ROLES = {"user": Role.USER, "editor": Role.EDITOR, "owner": Role.OWNER}
PERSON, GROUP, TEAMS, SERVICE = (
    frozenset(f"{holder}-{role}" for role in ROLES)
    for holder in ("person", "group", "team", "service")
)
PUBLIC = frozenset({"public"})
SIGNED_IN = PUBLIC | {"shared"}
ALL = SIGNED_IN | PERSON | GROUP | TEAMS | SERVICE | {"private"}
APPLICATIONS = ALL | {"disabled"}
NONE: frozenset[str] = frozenset()

USABLE: Mapping[str, frozenset[str]] = {
    # With a browser.
    "visitor": PUBLIC,
    "stranger": SIGNED_IN,
    "grantee": SIGNED_IN | PERSON,
    "member of a group": SIGNED_IN | GROUP,
    "member who works in the team": SIGNED_IN | TEAMS,
    "member who works for themselves": SIGNED_IN,
    "former member with the team in the session": SIGNED_IN,
    "owner": SIGNED_IN | {"private"},
    "accessor of all": ALL,
    "accessor of all by a group": ALL,
    "superuser": ALL,
    "closed account": PUBLIC,
    # With a key.
    "key of the installation": ALL,
    "key with a scope": frozenset({"private"}),
    "key with a scope of nothing": NONE,
    "key of a stranger": SIGNED_IN,
    "key of the grantee": SIGNED_IN | PERSON,
    "key of the grantee with a scope": frozenset({"person-user"}),
    "key of the owner": SIGNED_IN | {"private"},
    "key of a member in the team": SIGNED_IN | TEAMS,
    "key of a member for themselves": SIGNED_IN,
    "key of a former member": NONE,
    "key of a closed account": NONE,
    "key of a superuser": ALL,
    "key of a service account": SIGNED_IN | SERVICE,
    "unknown key": NONE,
    # With neither.
    "program on this machine": PUBLIC,
    "program elsewhere": NONE,
}


@dataclass(frozen=True, slots=True)
class Asker:
    """The credentials in the requests of a caller."""

    headers: Mapping[str, str] = field(default_factory=dict)
    address: tuple[str, int] = HERE

    @property
    def has_key(self) -> bool:
        return "api-key" in self.headers

    @property
    def has_browser(self) -> bool:
        return "cookie" in self.headers


def make_applications() -> None:
    """Create the applications of the table, without grants."""
    fields: dict[str, dict[str, Any]] = {
        "public": {"is_public": True},
        "shared": {"is_shared": True},
        "disabled": {"is_public": True, "is_shared": True, "is_enabled": False},
    }
    for name in sorted(APPLICATIONS):
        given = fields.get(name, {})
        store_application(slug=name, title=f"The {name}", manifest=MANIFEST, **given)


def make_askers() -> dict[str, Asker]:
    """Create the callers of the table, with their grants."""
    make_applications()
    people = {name: User.objects.create_user(name) for name in USABLE}
    service = User.objects.create_user("service")
    ServiceAccount.objects.create(user=service)
    group, team, elsewhere = (
        Group.objects.create(name=name) for name in ("group", "team", "elsewhere")
    )
    place = Team.objects.create(group=team)
    Team.objects.create(group=elsewhere)
    grant("person", people["grantee"])
    grant("person", people["closed account"])
    grant("service", service)
    grant("group", group)
    grant("team", team)
    Application.objects.filter(slug="private").update(owner=people["owner"])
    Grant.objects.create(
        application=Application.objects.get(slug="disabled"),
        user=people["grantee"],
        role=Role.OWNER,
    )
    people["member of a group"].groups.add(group)
    workers = ("member who works in the team", "member who works for themselves")
    for name in workers:
        people[name].groups.add(team, elsewhere)
    former = people["former member with the team in the session"]
    all_of_them = Permission.objects.get(codename="access_all_applications")
    people["accessor of all"].user_permissions.add(all_of_them)
    accessors = Group.objects.create(name="accessors")
    accessors.permissions.add(all_of_them)
    people["accessor of all by a group"].groups.add(accessors)
    User.objects.filter(username="superuser").update(is_superuser=True)
    browsers = {name: browser(people[name]) for name in tuple(USABLE)[1:12]}
    browsers["member who works in the team"] = browser(people[workers[0]], place.pk)
    browsers["member who works for themselves"] = browser(people[workers[1]])
    browsers[former.username] = browser(former, place.pk)
    keys = {
        "key of the installation": key(),
        "key with a scope": key(scope=("private",)),
        "key with a scope of nothing": key(is_limited=True),
        "key of a stranger": key(people["stranger"]),
        "key of the grantee": key(people["grantee"]),
        "key of the grantee with a scope": key(people["grantee"], scope=("private", "person-user")),
        "key of the owner": key(people["owner"]),
        "key of a member in the team": key(people[workers[0]], team=place),
        "key of a member for themselves": key(people[workers[0]]),
        "key of a former member": key(former, team=place),
        "key of a closed account": key(people["closed account"]),
        "key of a superuser": key(people["superuser"]),
        "key of a service account": key(service),
        "unknown key": Asker({"api-key": f"{'x' * 8}.{'y' * 32}"}),
    }
    User.objects.filter(username="closed account").update(is_active=False)
    return {
        "visitor": browser(None),
        **browsers,
        **keys,
        "program on this machine": Asker(),
        "program elsewhere": Asker(address=ELSEWHERE),
    }


def grant(name: str, holder: User | Group) -> None:
    kind = "user" if isinstance(holder, User) else "group"
    for word, role in ROLES.items():
        application = Application.objects.get(slug=f"{name}-{word}")
        Grant.objects.create(application=application, role=role, **{kind: holder})


def browser(user: User | None, team: int | None = None) -> Asker:
    client = Client()
    if user is not None:
        client.force_login(user)
    session = client.session
    if team is not None:
        session[TEAM] = team
    session.save()
    cookie = f"sessionid={session.session_key}; csrftoken={CSRF}"
    return Asker({"cookie": cookie, "x-csrftoken": CSRF})


def key(user: User | None = None, scope: tuple[str, ...] = (), **fields: Any) -> Asker:
    row: Any
    row, written = ApiKey.objects.create_key(name="test", user=user, **fields)
    row.applications.set(Application.objects.filter(slug__in=scope))
    return Asker({"api-key": written})
