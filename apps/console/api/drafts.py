"""`/api/applications/{slug}/draft/`: saved, discarded, requested, sent back, taken over.

The version of a draft is its ETag, for `If-Match`; a draft may be saved with mistakes, which are
told in `problems`, and is published without them.
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

from apps.accounts.addresses import address_of
from apps.catalog.history.differences import MISSING
from apps.catalog.history.merge import Clash
from apps.catalog.masking import unmasked
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.drafts import (
    WRITTEN,
    DraftOvertaken,
    discard_draft,
    draft_of,
    save_draft,
)
from apps.catalog.versions.publishing_requests import (
    request_publishing,
    send_back,
)
from apps.catalog.versions.rebase import ConflictsOpen, take_over_live
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.paths import in_manifest
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.console.api.rows import IF_MATCH
from apps.console.api.version_serializers import (
    ChoicesSerializer,
    DraftSerializer,
    RequestNoteSerializer,
    ReturnWordsSerializer,
)
from apps.console.operated import PUBLISH
from apps.integers import read_integer
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem

MAY_NOT_PUBLISH = "Your account may not publish applications."


class VersionPermission(StaffWithPermission):
    """Whoever may change applications saves drafts; publishing has a permission of its own."""

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
    """Actions of a view set of applications."""

    get_object: Any

    @extend_schema(responses=DraftSerializer)
    @action(**OPTIONS)
    def draft(self, request: Request, slug: str) -> Response:
        return told_draft(draft_of(self.get_object()))

    @extend_schema(request=DraftSerializer, responses=DraftSerializer, parameters=[IF_MATCH])
    @draft.mapping.put
    def replace_draft(self, request: Request, slug: str) -> Response:
        return told_draft(saved_draft(request, self.get_object()))

    @extend_schema(responses={204: None})
    @draft.mapping.delete
    def discard_draft(self, request: Request, slug: str) -> Response:
        row = self.get_object()
        if not discard_draft(row) and row.live_number == 0:
            raise RowInvalid([Problem("$", "It was never published; archive it instead.")])
        return Response(status=204)

    @extend_schema(request=RequestNoteSerializer, responses=DraftSerializer, parameters=[IF_MATCH])
    @action(**OPTIONS, methods=["post"], url_path="draft/request")
    def request_publishing(self, request: Request, slug: str) -> Response:
        """Ask somebody else to publish the draft, where that takes two people."""
        row, sent = self.get_object(), read(RequestNoteSerializer, request)
        with draft_errors():
            found = request_publishing(
                row,
                sent["note"],
                user_of(request),
                seen=seen_version(request),
                address=address_of(request),
            )
        return told_draft(found.draft)

    @extend_schema(request=ReturnWordsSerializer, responses=DraftSerializer)
    @action(**OPTIONS, methods=["post"], url_path="draft/return")
    def return_draft(self, request: Request, slug: str) -> Response:
        """Send a draft back whose publishing is requested."""
        row, sent = self.get_object(), read(ReturnWordsSerializer, request)
        check_may_publish(request)
        with draft_errors():
            found = send_back(row, sent["words"], user_of(request), address=address_of(request))
        return told_draft(found.draft)

    @extend_schema(request=ChoicesSerializer, responses=DraftSerializer, parameters=[IF_MATCH])
    @action(**OPTIONS, methods=["post"], url_path="draft/rebase")
    def rebase_draft(self, request: Request, slug: str) -> Response:
        """Take over what went live after the draft was begun.

        409 with the `conflicts` if the draft changed the same places and no choice was sent.
        """
        row, sent = self.get_object(), read(ChoicesSerializer, request)
        seen, live = seen_version(request), sent.get("live")
        with draft_errors():
            return told_draft(
                take_over_live(row, sent["choices"], user_of(request), seen=seen, live=live)
            )


def user_of(request: Request) -> Any:
    return request.user


def check_may_publish(request: Request) -> None:
    """Raises `PermissionDenied`."""
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied(MAY_NOT_PUBLISH)


def read(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Raises DRF's `ValidationError`."""
    found = serializer(data=request.data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)


def told_draft(draft: ApplicationDraft) -> Response:
    return Response(DraftSerializer(draft).data, headers={"ETag": f'"{draft.version}"'})


def saved_draft(request: Request, row: Application) -> ApplicationDraft:
    """Raises `RowInvalid`, `EditConflict`, DRF's `ValidationError`."""
    stored = draft_of(row)
    sent = DraftSerializer(stored, data=request.data, partial=True)
    sent.is_valid(raise_exception=True)
    values = {name: sent.validated_data[name] for name in WRITTEN if name in sent.validated_data}
    if "manifest" in values:
        found = unmasked(values["manifest"], stored.manifest)
        if found.problems:
            raise RowInvalid(in_manifest(found.problems))
        values["manifest"] = with_own_names(found.document)
    with draft_errors():
        return save_draft(row, values, seen_version(request), user_of(request))


@contextmanager
def draft_errors() -> Iterator[None]:
    """Tell why a draft is not saved. Raises `RowInvalid`, `EditConflict`."""
    try:
        yield
    except DraftOvertaken as error:
        version = 0 if error.draft is None else error.draft.version
        raise EditConflict(412, f"{error} Read it again.", {"version": version}) from error
    except ConflictsOpen as error:
        raise EditConflict(
            409, str(error), {"conflicts": [*map(told_clash, error.clashes)]}
        ) from error
    except ValidationError as error:
        raise RowInvalid(problems_of_row(error)) from error


def told_clash(clash: Clash) -> dict[str, Any]:
    """Without a side that has no value."""
    sides = {"base": clash.base, "mine": clash.mine, "theirs": clash.theirs}
    there = {name: value for name, value in sides.items() if value is not MISSING}
    return {"path": clash.path, **there}


def seen_version(request: Request) -> int | None:
    header = request.headers.get("If-Match", "").strip().removeprefix("W/").strip('"')
    return read_integer(header)
