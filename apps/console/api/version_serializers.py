"""Defines the serializers for drafts and versions of applications."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.catalog.actions.go_live import LONGEST_NOTE
from apps.catalog.actions.save_rules import draft_problems
from apps.catalog.actions.send_back import LONGEST_WORDS
from apps.catalog.credentials.masking import mask_credentials
from apps.catalog.history.merge import SIDES
from apps.catalog.models import ApplicationDraft, ApplicationVersion, PublishingRequest
from apps.catalog.versions.publishing_requests import request_of
from apps.console.api.json_fields import DocumentField
from apps.console.api.problems import in_manifest
from apps.console.api.strict_serializers import StrictModelSerializer, StrictSerializer
from apps.manifest.problems import Problem


class DraftProblemSerializer(StrictSerializer[Problem]):
    path = serializers.CharField()
    message = serializers.CharField()


class PublishingRequestSerializer(StrictModelSerializer[PublishingRequest]):
    """A user's request that another user publish the draft. `returned_words` is the reason for
    sending it back.
    """

    by = serializers.CharField(source="person_name")
    returned_by = serializers.CharField(source="returned_name")

    class Meta:
        model = PublishingRequest
        fields = ("by", "note", "asked_at", "returned_by", "returned_words", "returned_at")


class DraftSerializer(StrictModelSerializer[ApplicationDraft]):
    """The draft of the next version. `version` is 0 if the draft does not differ from the live
    version. `problems` lists the errors that prevent publishing.
    """

    manifest = DocumentField(required=False)
    request = serializers.SerializerMethodField()
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
            "request",
            "problems",
        )
        read_only_fields = ("based_on", "version", "updated_at")
        extra_kwargs = {"title": {"required": False}}

    def to_representation(self, instance: ApplicationDraft) -> dict[str, Any]:
        told = super().to_representation(instance)
        return {**told, "manifest": mask_credentials(instance.manifest)}

    @extend_schema_field(PublishingRequestSerializer(allow_null=True))
    def get_request(self, draft: ApplicationDraft) -> dict[str, Any] | None:
        found = request_of(draft)
        return None if found is None else dict(PublishingRequestSerializer(found).data)

    @extend_schema_field(DraftProblemSerializer(many=True))
    def get_problems(self, draft: ApplicationDraft) -> list[dict[str, str]]:
        return [asdict(problem) for problem in in_manifest(draft_problems(draft))]


class NoteSerializer(StrictSerializer[dict[str, Any]]):
    """A note that describes the changes. With `only_new`, existing conversations continue with the
    previous version. With `over`, the draft may be based on an older version than the live one.
    """

    note = serializers.CharField(max_length=LONGEST_NOTE)
    only_new = serializers.BooleanField(default=False)
    over = serializers.BooleanField(default=False)


class RestoredNoteSerializer(StrictSerializer[dict[str, Any]]):
    """A note that states the reason for restoring the version."""

    note = serializers.CharField(max_length=LONGEST_NOTE)


class RequestNoteSerializer(StrictSerializer[dict[str, Any]]):
    """A note that describes the changes."""

    note = serializers.CharField(max_length=LONGEST_NOTE)


class ReturnWordsSerializer(StrictSerializer[dict[str, Any]]):
    """A comment about the changes that the draft needs."""

    words = serializers.CharField(max_length=LONGEST_WORDS)


class ChoicesSerializer(StrictSerializer[dict[str, Any]]):
    """Choices for merge conflicts: "mine" (the draft's value) or "theirs" (the live value) by path.
    `live` is the number of the live version that the user has reviewed.
    """

    choices = serializers.DictField(child=serializers.ChoiceField(choices=SIDES), default=dict)
    live = serializers.IntegerField(required=False)


class VersionSerializer(StrictModelSerializer[ApplicationVersion]):
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
    """A published version with its manifest."""

    manifest = serializers.SerializerMethodField()

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "description", "icon", "manifest")

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_manifest(self, version: ApplicationVersion) -> Any:
        return mask_credentials(version.document)
