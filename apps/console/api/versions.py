"""`/api/applications/{slug}/draft/`, `publish/`, `versions/`: the life of an application.

The version of a draft is its ETag, for `If-Match`; a draft may be saved with mistakes, which are
told in `problems`, and is published without them.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.masking import masked, unmasked
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions import publication
from apps.catalog.versions.drafts import (
    WRITTEN,
    DraftOvertaken,
    discard_draft,
    draft_of,
    draft_problems,
    save_draft,
    with_draft,
)
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.paths import in_manifest
from apps.console.api.problems import EditConflict, RowInvalid, problems_of_row
from apps.console.api.rows import IF_MATCH
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem

PUBLISH = "catalog.publish_application"
ERASE = "catalog.erase_application"
MAY_NOT_PUBLISH = "Your account may not publish applications."


class DraftProblemSerializer(serializers.Serializer[Problem]):
    path = serializers.CharField()
    message = serializers.CharField()


class DraftSerializer(serializers.ModelSerializer[ApplicationDraft]):
    """What is to become the next version. `version` is 0 while nothing differs from what is live;
    `problems` keep it from being published."""

    manifest = serializers.JSONField(required=False)
    problems = serializers.SerializerMethodField()

    class Meta:
        model = ApplicationDraft
        fields = (
            "title",
            "description",
            "icon",
            "manifest",
            "based_on",
            "version",
            "updated_at",
            "problems",
        )
        read_only_fields = ("based_on", "version", "updated_at")
        extra_kwargs = {"title": {"required": False}}

    def to_representation(self, instance: ApplicationDraft) -> dict[str, Any]:
        told = super().to_representation(instance)
        return {**told, "manifest": masked(instance.manifest)}

    @extend_schema_field(DraftProblemSerializer(many=True))
    def get_problems(self, draft: ApplicationDraft) -> list[dict[str, str]]:
        return [asdict(problem) for problem in in_manifest(draft_problems(draft))]


class NoteSerializer(serializers.Serializer[dict[str, Any]]):
    """The note says what is new. `only_new`: conversations that have begun stay with the version
    that was live. `over`: publish a draft although another version went live since it was begun."""

    note = serializers.CharField(max_length=publication.LONGEST_NOTE)
    only_new = serializers.BooleanField(default=False)
    over = serializers.BooleanField(default=False)


class RestoredNoteSerializer(serializers.Serializer[dict[str, Any]]):
    """The note says why the version comes back."""

    note = serializers.CharField(max_length=publication.LONGEST_NOTE)


class VersionSerializer(serializers.ModelSerializer[ApplicationVersion]):
    """A published version without its manifest, which may be large."""

    author = serializers.CharField(source="who")
    is_live = serializers.SerializerMethodField()

    class Meta:
        model = ApplicationVersion
        fields: tuple[str, ...] = (
            *("number", "title", "note", "author", "via", "is_automatic", "is_live"),
            *("published_at", "withdrawn_at"),
        )

    def get_is_live(self, version: ApplicationVersion) -> bool:
        return version.number == version.application.live_number


class WholeVersionSerializer(VersionSerializer):
    """A published version; `manifest` is as it was written."""

    manifest = serializers.SerializerMethodField()

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "description", "icon", "manifest")

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_manifest(self, version: ApplicationVersion) -> Any:
        return masked(version.document)


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


class VersionActions:
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

    @extend_schema(request=NoteSerializer, responses=WholeVersionSerializer)
    @action(**OPTIONS, methods=["post"])
    def publish(self, request: Request, slug: str) -> Response:
        """Make a version of the draft, or of what is live with the predefined content of now."""
        row, sent = self.get_object(), read(NoteSerializer, request)
        check_may_publish(request)
        options = {"only_new": sent["only_new"], "is_over": sent["over"]}
        return published(
            row, lambda: publication.publish(row, sent["note"], user=user_of(request), **options)
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


def told_version(version: ApplicationVersion) -> Response:
    return Response(WholeVersionSerializer(version).data)


def version_of(row: Application, number: str) -> ApplicationVersion:
    """Raises Http404."""
    found = row.versions.select_related("application").filter(number=int(number)).first()
    if found is None:
        raise Http404
    return found


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
    try:
        return save_draft(row, values, seen_version(request), user_of(request))
    except DraftOvertaken as error:
        version = 0 if error.draft is None else error.draft.version
        raise EditConflict(412, f"{error} Read it again.", {"version": version}) from error
    except ValidationError as error:
        raise RowInvalid(problems_of_row(error)) from error


def seen_version(request: Request) -> int | None:
    header = request.headers.get("If-Match", "").strip().removeprefix("W/").strip('"')
    return int(header) if header.isascii() and header.isdecimal() else None


def published(row: Application, make: Any) -> Response:
    """Raises `RowInvalid`, `EditConflict`."""
    try:
        version: ApplicationVersion = make()
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
