"""`/api/applications/{slug}/publish/`, `versions/`, `unarchive/`, `erase/`: what is published."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.addresses import address_of
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions import publication
from apps.catalog.versions.drafts import (
    draft_of,
    with_draft,
)
from apps.catalog.versions.publishing_requests import (
    SecondPublisherRequired,
)
from apps.console.api.drafts import OPTIONS, DraftActions, check_may_publish, read, user_of
from apps.console.api.paths import in_manifest
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.console.api.version_serializers import (
    NoteSerializer,
    RestoredNoteSerializer,
    VersionSerializer,
    WholeVersionSerializer,
)
from apps.console.operated import ERASE
from apps.manifest.problems import Problem


class VersionActions(DraftActions):
    """Actions of a view set of applications."""

    @extend_schema(request=NoteSerializer, responses=WholeVersionSerializer)
    @action(**OPTIONS, methods=["post"])
    def publish(self, request: Request, slug: str) -> Response:
        """Make a version of the draft, or of what is live with the predefined content of now."""
        row, sent = self.get_object(), read(NoteSerializer, request)
        check_may_publish(request)
        options = {"only_new": sent["only_new"], "is_over": sent["over"]}
        return published(
            row,
            lambda: publication.publish(
                row, sent["note"], user=user_of(request), address=address_of(request), **options
            ),
        )

    @extend_schema(responses=VersionSerializer(many=True))
    @action(**OPTIONS)
    def versions(self, request: Request, slug: str) -> Response:
        rows = self.get_object().versions.select_related("application").defer("document")
        return Response(VersionSerializer(rows, many=True).data)

    @extend_schema(responses=WholeVersionSerializer)
    @action(**OPTIONS, url_path=r"versions/(?P<number>\d{1,9})")
    def version(self, request: Request, slug: str, number: str) -> Response:
        return told_version(version_of(self.get_object(), number))

    @extend_schema(request=RestoredNoteSerializer, responses=WholeVersionSerializer)
    @action(**OPTIONS, methods=["post"], url_path=r"versions/(?P<number>\d{1,9})/restore")
    def restore_version(self, request: Request, slug: str, number: str) -> Response:
        """Make a new version of an earlier one."""
        row, sent = self.get_object(), read(RestoredNoteSerializer, request)
        check_may_publish(request)
        wanted = version_of(row, number).number
        return published(
            row, lambda: publication.restore(row, wanted, sent["note"], user=user_of(request))
        )

    @extend_schema(request=None, responses=WholeVersionSerializer)
    @action(**OPTIONS, methods=["post"], url_path=r"versions/(?P<number>\d{1,9})/withdraw")
    def withdraw_version(self, request: Request, slug: str, number: str) -> Response:
        """Let nobody use the version any more."""
        version = version_of(self.get_object(), number)
        check_may_publish(request)
        try:
            publication.withdraw(version)
        except ValidationError as error:
            raise RowInvalid(problems_of_row(error)) from error
        return told_version(version)

    @extend_schema(request=None, responses={204: None})
    @action(**OPTIONS, methods=["post"])
    def unarchive(self, request: Request, slug: str) -> Response:
        publication.unarchive(self.get_object())
        return Response(status=204)

    @extend_schema(request=None, responses={204: None})
    @action(**OPTIONS, methods=["post"])
    def erase(self, request: Request, slug: str) -> Response:
        """Delete an archived application with its versions. Conversations stay with their owners."""
        row = self.get_object()
        if not request.user.has_perm(ERASE):
            raise PermissionDenied("Your account may not erase applications.")
        if row.archived_at is None:
            raise RowInvalid([Problem("$", "Archive it first.")])
        row.delete()
        return Response(status=204)


def told_version(version: ApplicationVersion) -> Response:
    return Response(WholeVersionSerializer(version).data)


def version_of(row: Application, number: str) -> ApplicationVersion:
    """Raises Http404."""
    found = row.versions.select_related("application").filter(number=int(number)).first()
    if found is None:
        raise Http404
    return found


def published(row: Application, make: Any) -> Response:
    """Raises `RowInvalid`, `EditConflict`, `PermissionDenied`."""
    try:
        version: ApplicationVersion = make()
    except SecondPublisherRequired as error:
        raise PermissionDenied(error.messages[0]) from error
    except publication.DraftOutdated as error:
        raise EditConflict(409, error.messages[0], {"live": row.live_number}) from error
    except ValidationError as error:
        raise RowInvalid(publication_problems(row, error)) from error
    version.application.refresh_from_db(fields=["live_number"])
    return told_version(version)


def publication_problems(row: Application, error: ValidationError) -> Sequence[Problem]:
    """The problems with their paths; the draft knows those of its manifest."""
    others = [found for found in problems_of_row(error) if found.path != "manifest"]
    if "manifest" not in getattr(error, "error_dict", {}):
        return others
    return [*others, *in_manifest(with_draft(draft_of(row)).manifest_problems())]
