"""Serves `/api/applications/{slug}/grants/`: the roles of users and groups in an application.

PUT replaces the list, POST adds or changes one grant, and DELETE removes the grant in the query.
Each response contains the whole list, with an ETag for `If-Match`.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.catalog.actions import grant
from apps.catalog.grants import Holder, find_holders, grants_of
from apps.catalog.models import Application, Role
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.problems import EditConflict, RowInvalid
from apps.console.api.strict_serializers import StrictSerializer
from apps.console.api.versioned_rows import if_match_tags
from apps.console.operator_rights import may_grant
from apps.manifest.problems import Problem

ROLES = {role.name.lower(): role for role in Role}
HOLDERS = ("user", "group")
OWNERS_ONLY = "Only owners of the application can change its grants."
GRANT_QUERY = [OpenApiParameter(name, OpenApiTypes.STR) for name in HOLDERS]


class GrantSerializer(StrictSerializer[Mapping[str, str]]):
    """The role of a user (`user`, by username), or of a group or team (`group`, by name)."""

    user = serializers.CharField(required=False)
    group = serializers.CharField(required=False)
    role = serializers.ChoiceField(choices=[*ROLES])

    def validate(self, values: Mapping[str, str]) -> Mapping[str, str]:
        if len(values.keys() & {*HOLDERS}) != 1:
            raise serializers.ValidationError("Send either `user` or `group`.")
        return values


class GrantPermission(StaffWithPermission):
    """Requires the permission to change applications for all writes. `changed_grants` also checks
    that the user owns the application.
    """

    perms_map = {
        **StaffWithPermission.perms_map,
        **{method: ["catalog.change_application"] for method in ("POST", "PUT", "DELETE")},
    }


def listed_grants(application: Application) -> Response:
    grants = grants_of(application)
    rows = [{kind: name, "role": role.name.lower()} for (kind, name), role in grants.items()]
    return Response(rows, headers={"ETag": tag_of(grants)})


def changed_grants(request: Request, application: Application) -> Response:
    """Change the application's grants, and return the new list.

    Raises `PermissionDenied` if the user does not own the application, `EditConflict` if the list
    is outdated, and the exceptions that `requested_grants` raises.
    """
    if not may_grant(request, application):
        raise PermissionDenied(OWNERS_ONLY)

    def changed(before: Mapping[Holder, Role]) -> Mapping[Holder, Role]:
        check_tag(request, before)
        return requested_grants(request, before)

    grant.execute(application, changed, bucket_of(request.user.pk), address_of(request))
    return listed_grants(application)


def requested_grants(request: Request, before: Mapping[Holder, Role]) -> Mapping[Holder, Role]:
    """Return the application's new list of grants. Raises `RowInvalid` or `ValidationError` if the
    request is invalid, and `NotFound` if the grant to remove does not exist.
    """
    if request.method == "DELETE":
        named: Any = [*request.query_params.dict().items()]
        holder = named[0] if len(named) == 1 else None
        if holder not in before:
            raise NotFound("This grant does not exist. Select one with ?user= or ?group=.")
        return {one: role for one, role in before.items() if one != holder}
    is_list = request.method == "PUT"
    serializer = GrantSerializer(data=request.data, many=is_list)
    serializer.is_valid(raise_exception=True)
    sent: list[Mapping[str, str]] = (
        serializer.validated_data if is_list else [serializer.validated_data]
    )
    problems = list(problems_of(sent, is_list=is_list))
    if problems:
        raise RowInvalid(problems)
    roles = {holder_of(one): ROLES[one["role"]] for one in sent}
    return roles if is_list else {**before, **roles}


def problems_of(sent: list[Mapping[str, str]], *, is_list: bool) -> Iterator[Problem]:
    known, seen = find_holders(map(holder_of, sent)), set[Holder]()
    for number, one in enumerate(sent):
        kind, name = holder = holder_of(one)
        path = f"[{number}].{kind}" if is_list else kind
        if holder not in known:
            yield Problem(path, f"Unknown {kind}: {name[:100]!r}.")
        if holder in seen:
            yield Problem(path, f"The {kind} {name[:100]!r} occurs twice.")
        seen.add(holder)


def holder_of(grant: Mapping[str, str]) -> Holder:
    return ("user", grant["user"]) if "user" in grant else ("group", grant["group"])


def check_tag(request: Request, grants: Mapping[Holder, Role]) -> None:
    """Raise `EditConflict` if `If-Match` has an outdated ETag."""
    tags = if_match_tags(request)
    if tags and tag_of(grants) not in tags:
        raise EditConflict(412, "The grants have changed. Fetch them again.", {})


def tag_of(grants: Mapping[Holder, Role]) -> str:
    return f'"{hashlib.sha256(repr(sorted(grants.items())).encode()).hexdigest()[:16]}"'
