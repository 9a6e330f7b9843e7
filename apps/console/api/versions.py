"""Serves the endpoints `publish/`, `versions/`, `unarchive/` and `erase/` of
`/api/applications/{slug}/`.
"""

from typing import Any

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.client_address import address_of
from apps.catalog.actions import archive, publish, restore, withdraw
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions.publishing_requests import SecondPublisherRequired
from apps.console.api.drafts import (
    OPTIONS,
    DraftActions,
    check_may_publish,
    overtaken_draft,
    read_input,
    seen_version,
    user_of,
)
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.console.api.version_serializers import (
    NoteSerializer,
    RestoredNoteSerializer,
    VersionSerializer,
    WholeVersionSerializer,
)
from apps.console.api.versioned_rows import IF_MATCH
from apps.console.operator_rights import ERASE, get_version
from apps.manifest.problems import Problem


class VersionActions(DraftActions):
    @extend_schema(request=NoteSerializer, responses=WholeVersionSerializer, parameters=[IF_MATCH])
    @action(**OPTIONS, methods=["post"])
    def publish(self, request: Request, slug: str) -> Response:
        """Publish the draft or, if there is none, the live version with the current predefined
        content.
        """
        row, sent = self.get_object(), read_input(NoteSerializer, request)
        check_may_publish(request)
        options = {"only_new": sent["only_new"], "is_over": sent["over"]}
        who = {"user": user_of(request), "address": address_of(request)}
        seen = seen_version(request)
        return publish_version(
            row, lambda: publish.execute(row, sent["note"], seen=seen, **who, **options)
        )

    @extend_schema(responses=VersionSerializer(many=True))
    @action(**OPTIONS)
    def versions(self, request: Request, slug: str) -> Response:
        rows = self.get_object().versions.select_related("application").defer("document")
        return Response(VersionSerializer(rows, many=True).data)

    @extend_schema(responses=WholeVersionSerializer)
    @action(**OPTIONS, url_path=r"versions/(?P<number>\d{1,9})")
    def version(self, request: Request, slug: str, number: str) -> Response:
        return version_response(get_version(self.get_object(), int(number)))

    @extend_schema(request=RestoredNoteSerializer, responses=WholeVersionSerializer)
    @action(**OPTIONS, methods=["post"], url_path=r"versions/(?P<number>\d{1,9})/restore")
    def restore_version(self, request: Request, slug: str, number: str) -> Response:
        """Publish the content of an earlier version as a new version."""
        row, sent = self.get_object(), read_input(RestoredNoteSerializer, request)
        check_may_publish(request)
        wanted = get_version(row, int(number)).number
        return publish_version(
            row, lambda: restore.execute(row, wanted, sent["note"], user=user_of(request))
        )

    @extend_schema(request=None, responses=WholeVersionSerializer)
    @action(**OPTIONS, methods=["post"], url_path=r"versions/(?P<number>\d{1,9})/withdraw")
    def withdraw_version(self, request: Request, slug: str, number: str) -> Response:
        """Withdraw a version. Callers can no longer use it."""
        version = get_version(self.get_object(), int(number))
        check_may_publish(request)
        try:
            withdraw.execute(version)
        except ValidationError as error:
            raise RowInvalid(problems_of_row(error)) from error
        return version_response(version)

    @extend_schema(request=None, responses={204: None})
    @action(**OPTIONS, methods=["post"])
    def unarchive(self, request: Request, slug: str) -> Response:
        archive.undo(self.get_object())
        return Response(status=204)

    @extend_schema(request=None, responses={204: None})
    @action(**OPTIONS, methods=["post"])
    def erase(self, request: Request, slug: str) -> Response:
        """Permanently delete an archived application with its versions. Users' conversations are
        retained.
        """
        row = self.get_object()
        if not request.user.has_perm(ERASE):
            raise PermissionDenied("You do not have permission to permanently delete applications.")
        if row.archived_at is None:
            raise RowInvalid([Problem("$", "The application is not archived. Archive it first.")])
        row.delete()
        return Response(status=204)


def version_response(version: ApplicationVersion) -> Response:
    return Response(WholeVersionSerializer(version).data)


def publish_version(row: Application, make: Any) -> Response:
    """Call `make`, which publishes a version, and return the version as a response.

    Raises `RowInvalid` if the draft has errors, `EditConflict` if it is outdated, and
    `PermissionDenied` if another user must publish it.
    """
    try:
        with overtaken_draft():
            version: ApplicationVersion = make()
    except SecondPublisherRequired as error:
        raise PermissionDenied(error.messages[0]) from error
    except publish.DraftOutdated as error:
        raise EditConflict(409, error.messages[0], {"live": row.live_number}) from error
    except ValidationError as error:
        raise RowInvalid(problems_of_row(error)) from error
    version.application.refresh_from_db(fields=["live_number"])
    return version_response(version)
