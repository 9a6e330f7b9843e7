"""Serves the studio's panel "Access". Its changes are saved immediately, not as part of a draft."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import reverse

from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.catalog.actions import grant, set_properties
from apps.catalog.grants import Holder, find_holders
from apps.catalog.models import Application, Role
from apps.catalog.versions.publishing_requests import TWO_PEOPLE
from apps.console.operator_rights import may_grant, may_rule_publishing, may_view_applications
from apps.console.people import named_like, visible_groups, visible_users
from apps.console.studio.access import application_seen, for_editors
from apps.console.studio.access_facts import access_data, group, user_facts
from apps.console.studio.page import stored_data
from apps.console.studio.typed_draft import UnreadableDraft, body_of

MOST_FOUND = 8
LONGEST_TEXT = 150
AUDIENCES: Mapping[str, Mapping[str, bool]] = {
    "private": {"is_public": False, "is_shared": False},
    "shared": {"is_public": False, "is_shared": True},
    "public": {"is_public": True},
}
SWITCHES = {"is_enabled": "is_enabled", "takes_two": TWO_PEOPLE}
"""The database column of each switch in the panel."""
ROLES = {role.name.lower(): role for role in Role}
OWNERS_ONLY = "Only owners of the application can change who can use it."
SUPERUSERS_ONLY = "Only a superuser can turn off two-person publishing."
UNKNOWN_OWNER = (
    "Choose an owner from the list. It contains members of your groups and teams, and users with a "
    "role in this application."
)


@for_editors
def save_access(request: HttpRequest, row: Application) -> JsonResponse:
    """Save any of the values `slug`, `is_enabled`, `audience`, `owner` and `takes_two`.

    An `owner` of "" removes the owner. Raises `UnreadableDraft` if a value has the wrong type.
    """
    body = body_of(request)
    if body.keys() & {"audience", "owner"} and not may_grant(request, row):
        return refusal_response(OWNERS_ONLY, 403)
    if "takes_two" in body and not may_rule_publishing(request, row):
        return refusal_response(SUPERUSERS_ONLY if row.needs_second_publisher else OWNERS_ONLY, 403)
    try:
        values = {**switches_in(body), **granting_in(request, row, body)}
        if "slug" in body:
            values["slug"] = read_text_field(body, "slug").strip()
        set_properties.execute(row, values, request.user, address=address_of(request))
    except ValidationError as error:
        return refusal_response(" ".join(error.messages))
    return access_response(request, row)


def switches_in(body: Mapping[str, Any]) -> dict[str, bool]:
    """Return the values of the switches by database column. Raises `UnreadableDraft` if a value is
    not a boolean.
    """
    found = {name: body[name] for name in SWITCHES if name in body}
    if not all(isinstance(value, bool) for value in found.values()):
        raise UnreadableDraft(f"{', '.join(found)}: send true or false.")
    return {SWITCHES[name]: value for name, value in found.items()}


def granting_in(request: HttpRequest, row: Application, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for the audience and the owner by database column.

    Raises `UnreadableDraft` if a value is invalid, and `ValidationError` for an owner whom the user
    may not see.
    """
    values: dict[str, Any] = {}
    if "audience" in body:
        audience = read_text_field(body, "audience")
        if audience not in AUDIENCES:
            raise UnreadableDraft("audience: use private, shared or public.")
        values.update(AUDIENCES[audience])
    if "owner" in body:
        name = read_text_field(body, "owner")
        owner = visible_users(request.user, row).filter(username=name).first() if name else None
        if name and owner is None:
            raise ValidationError(UNKNOWN_OWNER)
        values["owner"] = owner
    return values


@for_editors
def save_grant(request: HttpRequest, row: Application) -> JsonResponse:
    """Grant the `role` to a user or group or, if it is "", revoke the holder's role. Raises
    `UnreadableDraft` if a value is invalid.
    """
    body = body_of(request)
    kind, name, written = (read_text_field(body, field) for field in ("kind", "name", "role"))
    if kind not in ("user", "group") or written not in (*ROLES, ""):
        raise UnreadableDraft("Send the kind (user or group), the name and the role.")
    if not may_grant(request, row):
        return refusal_response(OWNERS_ONLY, 403)
    holder: Holder = ("user" if kind == "user" else "group", name)
    if written and not find_holders([holder]):
        who = "user with this username" if kind == "user" else "group or team with this name"
        return refusal_response(f"Unknown {who}.")

    def wanted(before: Mapping[Holder, Role]) -> Mapping[Holder, Role]:
        others = {one: role for one, role in before.items() if one != holder}
        return {**others, holder: ROLES[written]} if written else others

    grant.execute(row, wanted, bucket_of(request.user.pk), address_of(request))
    return access_response(request, row)


@for_editors
def find_people(request: HttpRequest, row: Application) -> JsonResponse:
    """Return the groups, teams and users whose names contain the submitted `text`. Only owners may
    search.
    """
    if not may_grant(request, row):
        return refusal_response(OWNERS_ONLY, 403)
    text = read_text_field(body_of(request), "text").strip()
    if not text:
        return JsonResponse({"found": []})
    users = visible_users(request.user, row).filter(named_like(text), is_active=True)[:MOST_FOUND]
    groups = visible_groups(request.user, row).filter(name__icontains=text)[:MOST_FOUND]
    found = [*map(group, groups), *map(user_facts, users)]
    return JsonResponse({"found": [*islice(found, 2 * MOST_FOUND)]})


def read_text_field(body: Mapping[str, Any], name: str) -> str:
    """Return a string in the request. Raises `UnreadableDraft` if it is missing or too long."""
    value = body.get(name)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise UnreadableDraft(f"{name}: send a string of up to {LONGEST_TEXT} characters.")
    return value


def refusal_response(message: str, status: int = 422) -> JsonResponse:
    return JsonResponse({"message": message}, status=status)


def access_response(request: HttpRequest, row: Application) -> JsonResponse:
    """Return the new access settings and state of the application. If the user can no longer see
    the application, return the page to open instead.
    """
    try:
        row = application_seen(request, row.pk)
    except (Http404, PermissionDenied):
        return left_response(request, row)
    state = stored_data(request, row)["state"]
    found = {"access": access_data(request, row), "state": state, "slug": row.slug}
    return JsonResponse({**found, "chat": row.get_absolute_url()})


def left_response(request: HttpRequest, row: Application) -> JsonResponse:
    """Return the page to open after users have removed their own role. That page shows a
    message.
    """
    owner = Application.objects.values_list("owner__username", flat=True).get(pk=row.pk)
    words = "Saved. You no longer have a role in “{}”, so it is no longer in your list."
    if owner:
        words = "Saved. “{}” now belongs to {}, and you no longer have a role in it."
    messages.success(request, words.format(row.title, owner))
    page = "admin:catalog_application_changelist"
    return JsonResponse(
        {"left": reverse(page if may_view_applications(request) else "admin:index")}
    )
