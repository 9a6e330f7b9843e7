"""Serves `/api/applications/{slug}/draft/`: saving, discarding, reviewing and merging a draft.

The ETag of a draft, for `If-Match`, is its version. A draft with errors can be saved, but not
published. Its field `problems` lists the errors.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.client_address import address_of
from apps.catalog.actions import discard_draft, request_publishing, save_draft, send_back, take_over
from apps.catalog.actions.take_over import ConflictsOpen
from apps.catalog.history.differences import MISSING
from apps.catalog.history.merge import Clash
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.definitions import COLUMNS
from apps.catalog.versions.drafts import DraftOvertaken, draft_of
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.console.api.version_serializers import (
    ChoicesSerializer,
    DraftSerializer,
    RequestNoteSerializer,
    ReturnWordsSerializer,
)
from apps.console.api.versioned_rows import IF_MATCH, if_match_tags, newest_version
from apps.console.operator_rights import PUBLISH
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem

MAY_NOT_PUBLISH = "Your account cannot publish applications."


class VersionPermission(StaffWithPermission):
    """Requires the permission to change applications for all writes. The views check the separate
    permission to publish.
    """

    perms_map = {
        **StaffWithPermission.perms_map,
        **{method: ["catalog.change_application"] for method in ("POST", "PUT", "DELETE")},
    }


OPTIONS: dict[str, Any] = {
    "detail": True,
    "permission_classes": [VersionPermission],
    "pagination_class": None,
    "filter_backends": [],
}


class DraftActions:
    get_object: Any

    @extend_schema(responses=DraftSerializer)
    @action(**OPTIONS)
    def draft(self, request: Request, slug: str) -> Response:
        return draft_response(draft_of(self.get_object()))

    @extend_schema(request=DraftSerializer, responses=DraftSerializer, parameters=[IF_MATCH])
    @draft.mapping.put
    def replace_draft(self, request: Request, slug: str) -> Response:
        return draft_response(saved_draft(request, self.get_object()))

    @extend_schema(responses={204: None})
    @draft.mapping.delete
    def discard_draft(self, request: Request, slug: str) -> Response:
        row = self.get_object()
        if not discard_draft.execute(row) and row.live_number == 0:
            raise RowInvalid(
                [Problem("$", "The application was never published. Archive it instead.")]
            )
        return Response(status=204)

    @extend_schema(request=RequestNoteSerializer, responses=DraftSerializer, parameters=[IF_MATCH])
    @action(**OPTIONS, methods=["post"], url_path="draft/request")
    def request_publishing(self, request: Request, slug: str) -> Response:
        """Request that another user publish the draft. Only for two-person publishing."""
        row, sent = self.get_object(), read_input(RequestNoteSerializer, request)
        with draft_errors():
            found = request_publishing.execute(
                row,
                sent["note"],
                user_of(request),
                seen=seen_version(request),
                address=address_of(request),
            )
        return draft_response(found.draft)

    @extend_schema(request=ReturnWordsSerializer, responses=DraftSerializer)
    @action(**OPTIONS, methods=["post"], url_path="draft/return")
    def return_draft(self, request: Request, slug: str) -> Response:
        """Send a draft back to the author who requested publishing."""
        row, sent = self.get_object(), read_input(ReturnWordsSerializer, request)
        check_may_publish(request)
        with draft_errors():
            found = send_back.execute(
                row, sent["words"], user_of(request), address=address_of(request)
            )
        return draft_response(found.draft)

    @extend_schema(request=ChoicesSerializer, responses=DraftSerializer, parameters=[IF_MATCH])
    @action(**OPTIONS, methods=["post"], url_path="draft/rebase")
    def rebase_draft(self, request: Request, slug: str) -> Response:
        """Merge the live version into a draft that is based on an older version.

        Returns 409 with the `conflicts` if the draft and the live version changed the same values
        and no choices were sent.
        """
        row, sent = self.get_object(), read_input(ChoicesSerializer, request)
        seen, live = seen_version(request), sent.get("live")
        with draft_errors():
            return draft_response(
                take_over.execute(row, sent["choices"], user_of(request), seen=seen, live=live)
            )


def user_of(request: Request) -> Any:
    return request.user


def check_may_publish(request: Request) -> None:
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied(MAY_NOT_PUBLISH)


def read_input(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated values of the request's body. Raises DRF's `ValidationError` if they are
    invalid.
    """
    found = serializer(data=request.data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)


def draft_response(draft: ApplicationDraft) -> Response:
    return Response(DraftSerializer(draft).data, headers={"ETag": f'"{draft.version}"'})


def saved_draft(request: Request, row: Application) -> ApplicationDraft:
    """Save the draft in the request. Raises `RowInvalid` or DRF's `ValidationError` if it is
    invalid, and `EditConflict` if it is outdated.
    """
    sent = DraftSerializer(draft_of(row), data=request.data, partial=True)
    sent.is_valid(raise_exception=True)
    values = {name: sent.validated_data[name] for name in COLUMNS if name in sent.validated_data}
    if "manifest" in values:
        values["manifest"] = with_own_names(values["manifest"])
    with draft_errors():
        return save_draft.execute(row, values, seen_version(request), user_of(request))


@contextmanager
def overtaken_draft() -> Iterator[None]:
    """Convert `DraftOvertaken` to `EditConflict`: another user has saved the draft."""
    try:
        yield
    except DraftOvertaken as error:
        version = 0 if error.draft is None else error.draft.version
        raise EditConflict(412, f"{error} Fetch the draft again.", {"version": version}) from error


@contextmanager
def draft_errors() -> Iterator[None]:
    """Convert the errors that drafts raise to `RowInvalid` or `EditConflict`."""
    try:
        with overtaken_draft():
            yield
    except ConflictsOpen as error:
        raise EditConflict(
            409, str(error), {"conflicts": [*map(clash_json, error.clashes)]}
        ) from error
    except ValidationError as error:
        raise RowInvalid(problems_of_row(error)) from error


def clash_json(clash: Clash) -> dict[str, Any]:
    """Convert a merge conflict to JSON. Omits the sides that have no value."""
    sides = {"base": clash.base, "mine": clash.mine, "theirs": clash.theirs}
    there = {name: value for name, value in sides.items() if value is not MISSING}
    return {"path": clash.path, **there}


def seen_version(request: Request) -> int | None:
    """Return the version of the draft in `If-Match`, or None if any version is acceptable."""
    tags = if_match_tags(request)
    return newest_version(tags) if tags else None
