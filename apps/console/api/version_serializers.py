"""Drafts and versions of applications as JSON, and what is sent to publish them."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.catalog.masking import masked
from apps.catalog.models import ApplicationDraft, ApplicationVersion, PublishingRequest
from apps.catalog.versions.drafts import draft_problems
from apps.catalog.versions.publishing_requests import LONGEST_WORDS, request_of
from apps.catalog.versions.rebase import SIDES
from apps.catalog.versions.version_notes import LONGEST_NOTE
from apps.console.api.json_fields import DocumentField
from apps.console.api.paths import in_manifest
from apps.manifest.problems import Problem


class DraftProblemSerializer(serializers.Serializer[Problem]):
    path = serializers.CharField()
    message = serializers.CharField()


class PublishingRequestSerializer(serializers.ModelSerializer[PublishingRequest]):
    """Somebody asks another person to publish the draft. Sent back, `returned_words` say why."""

    by = serializers.CharField(source="person_name")
    returned_by = serializers.CharField(source="returned_name")

    class Meta:
        model = PublishingRequest
        fields = ("by", "note", "asked_at", "returned_by", "returned_words", "returned_at")


class DraftSerializer(serializers.ModelSerializer[ApplicationDraft]):
    """What is to become the next version. `version` is 0 while nothing differs from what is live;
    `problems` keep it from being published."""

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
        return {**told, "manifest": masked(instance.manifest)}

    @extend_schema_field(PublishingRequestSerializer(allow_null=True))
    def get_request(self, draft: ApplicationDraft) -> dict[str, Any] | None:
        found = request_of(draft)
        return None if found is None else dict(PublishingRequestSerializer(found).data)

    @extend_schema_field(DraftProblemSerializer(many=True))
    def get_problems(self, draft: ApplicationDraft) -> list[dict[str, str]]:
        return [asdict(problem) for problem in in_manifest(draft_problems(draft))]


class NoteSerializer(serializers.Serializer[dict[str, Any]]):
    """The note says what is new. `only_new`: conversations that have begun stay with the version
    that was live. `over`: publish a draft although another version went live since it was begun."""

    note = serializers.CharField(max_length=LONGEST_NOTE)
    only_new = serializers.BooleanField(default=False)
    over = serializers.BooleanField(default=False)


class RestoredNoteSerializer(serializers.Serializer[dict[str, Any]]):
    """The note says why the version comes back."""

    note = serializers.CharField(max_length=LONGEST_NOTE)


class RequestNoteSerializer(serializers.Serializer[dict[str, Any]]):
    """The note says what is new."""

    note = serializers.CharField(max_length=LONGEST_NOTE)


class ReturnWordsSerializer(serializers.Serializer[dict[str, Any]]):
    """The words say what has to change first."""

    words = serializers.CharField(max_length=LONGEST_WORDS)


class ChoicesSerializer(serializers.Serializer[dict[str, Any]]):
    """By the path of each conflict: "mine" for the draft's value, "theirs" for the live one.
    `live` is the number of the version whose changes were looked at."""

    choices = serializers.DictField(child=serializers.ChoiceField(choices=SIDES), default=dict)
    live = serializers.IntegerField(required=False)


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
