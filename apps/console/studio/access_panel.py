"""The studio's panel of who may use an application: read, searched and saved at once.

None of it is part of a draft or a version, so nothing here publishes anything.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, JsonResponse

from apps.accounts.addresses import address_of
from apps.accounts.buckets import bucket_of
from apps.catalog.grants import Holder, change_grants, find_holders
from apps.catalog.models import Application, Role
from apps.catalog.properties import save_properties
from apps.catalog.versions.publishing_requests import TWO_PEOPLE
from apps.console.operated import may_grant, may_rule_publishing
from apps.console.people import known_groups, known_users, named_like
from apps.console.studio.access import application_seen, for_editors
from apps.console.studio.access_facts import access_data, group, person
from apps.console.studio.page import stored_data
from apps.console.studio.typed import Unreadable, body_of

MOST_FOUND = 8
LONGEST_TEXT = 150
AUDIENCES: Mapping[str, Mapping[str, bool]] = {
    "private": {"is_public": False, "is_shared": False},
    "shared": {"is_public": False, "is_shared": True},
    "public": {"is_public": True},
}
SWITCHES = {"is_enabled": "is_enabled", "takes_two": TWO_PEOPLE}
"""Columns, by what the panel sends."""
ROLES = {role.name.lower(): role for role in Role}
OWNERS_ONLY = "Only owners of the application may decide who else may use it."
SUPERUSERS_ONLY = "Only a superuser lets one person publish again."
UNKNOWN_OWNER = (
    "Choose an owner from the list. It has the people of your groups and teams, and those who have a "
    "role in this application."
)


@for_editors
def save_access(request: HttpRequest, row: Application) -> JsonResponse:
    """Save the given ones of `is_enabled`, `audience`, `owner` and `takes_two`. Raises `Unreadable`."""
    body = body_of(request)
    if body.keys() & {"audience", "owner"} and not may_grant(request, row):
        return refused(OWNERS_ONLY, 403)
    if "takes_two" in body and not may_rule_publishing(request, row):
        return refused(SUPERUSERS_ONLY if row.needs_second_publisher else OWNERS_ONLY, 403)
    try:
        values = {**switches_in(body), **granting_in(request, row, body)}
        save_properties(row, values, request.user, address=address_of(request))
    except ValidationError as error:
        return refused(" ".join(error.messages))
    return told(request, row)


def switches_in(body: Mapping[str, Any]) -> dict[str, bool]:
    """Raises `Unreadable`."""
    found = {name: body[name] for name in SWITCHES if name in body}
    if not all(isinstance(value, bool) for value in found.values()):
        raise Unreadable("Send true or false.")
    return {SWITCHES[name]: value for name, value in found.items()}


def granting_in(request: HttpRequest, row: Application, body: Mapping[str, Any]) -> dict[str, Any]:
    """Raises `Unreadable`, and `ValidationError` for an owner whom the person may not know of."""
    values: dict[str, Any] = {}
    if "audience" in body:
        audience = text_of(body, "audience")
        if audience not in AUDIENCES:
            raise Unreadable("The audience has to be private, shared or public.")
        values.update(AUDIENCES[audience])
    if "owner" in body:
        owner = known_users(request.user, row).filter(username=text_of(body, "owner")).first()
        if owner is None:
            raise ValidationError(UNKNOWN_OWNER)
        values["owner"] = owner
    return values


@for_editors
def save_grant(request: HttpRequest, row: Application) -> JsonResponse:
    """Give a `user` or `group` of a `name` a `role`; "" takes it back. Raises `Unreadable`."""
    body = body_of(request)
    kind, name, written = (text_of(body, field) for field in ("kind", "name", "role"))
    if kind not in ("user", "group") or written not in (*ROLES, ""):
        raise Unreadable("Send the kind (user or group), the name and the role.")
    if not may_grant(request, row):
        return refused(OWNERS_ONLY, 403)
    holder: Holder = ("user" if kind == "user" else "group", name)
    if written and not find_holders([holder]):
        who = "person with this username" if kind == "user" else "group or team of this name"
        return refused(f"There is no {who}.")

    def wanted(before: Mapping[Holder, Role]) -> Mapping[Holder, Role]:
        others = {one: role for one, role in before.items() if one != holder}
        return {**others, holder: ROLES[written]} if written else others

    change_grants(row, wanted, bucket_of(request.user.pk), address_of(request))
    return told(request, row)


@for_editors
def find_people(request: HttpRequest, row: Application) -> JsonResponse:
    """The first people, groups and teams with a `text` in their names, for owners alone."""
    if not may_grant(request, row):
        return refused(OWNERS_ONLY, 403)
    text = text_of(body_of(request), "text").strip()
    if not text:
        return JsonResponse({"found": []})
    users = known_users(request.user, row).filter(named_like(text), is_active=True)[:MOST_FOUND]
    groups = known_groups(request.user, row).filter(name__icontains=text)[:MOST_FOUND]
    found = [*map(group, groups), *map(person, users)]
    return JsonResponse({"found": [*islice(found, 2 * MOST_FOUND)]})


def text_of(body: Mapping[str, Any], name: str) -> str:
    """Raises `Unreadable`."""
    value = body.get(name)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise Unreadable(f"{name}: send a text of at most {LONGEST_TEXT} characters.")
    return value


def refused(message: str, status: int = 422) -> JsonResponse:
    return JsonResponse({"message": message}, status=status)


def told(request: HttpRequest, row: Application) -> JsonResponse:
    """The access as it is now, and the state for the bar. Raises Http404 for somebody who took back their own role."""
    row = application_seen(request, row.pk)
    state = stored_data(request, row)["state"]
    return JsonResponse({"access": access_data(request, row), "state": state})
