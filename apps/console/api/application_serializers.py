from dataclasses import asdict
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from apps.accounts.client_address import address_of
from apps.catalog.actions import create, save, set_properties
from apps.catalog.actions.save_rules import check_row
from apps.catalog.actions.set_properties import GRANTING
from apps.catalog.credentials.masking import mask_credentials, unmask_document
from apps.catalog.extraction import extract, forbidden_credentials
from apps.catalog.icons.values import Tile, tile_of
from apps.catalog.models import Application
from apps.catalog.review.manifests import review_manifest
from apps.catalog.versions.definitions import COLUMNS
from apps.catalog.versions.publishing_requests import (
    TWO_PEOPLE,
    SecondPublisherRequired,
    audit_rule,
)
from apps.catalog.versions.states import ApplicationState, application_state
from apps.console.api.drafts import check_may_publish
from apps.console.api.grants import OWNERS_ONLY
from apps.console.api.problems import RowInvalid, in_manifest, problems_of_row
from apps.console.api.strict_serializers import StrictSerializer
from apps.console.api.versioned_rows import RowSerializer
from apps.console.operator_rights import may_grant, may_rule_publishing
from apps.console.people import visible_users
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem

LISTED = (
    "slug",
    "title",
    "description",
    "icon",
    "tile",
    "is_enabled",
    "is_public",
    "is_shared",
    "needs_second_publisher",
    "owner",
    "version",
    "state",
    "live_number",
    "created_at",
    "updated_at",
)


SUPERUSERS_ONLY = "Only a superuser can turn off two-person publishing."


class WarningSerializer(StrictSerializer[Problem]):
    path = serializers.CharField()
    message = serializers.CharField()


class TileSerializer(StrictSerializer[Tile]):
    """The tile that shows an application's icon: the image at `url`, else `emoji`, else `letters`
    on the color with the number `colour`.
    """

    letters = serializers.CharField()
    colour = serializers.IntegerField()
    emoji = serializers.CharField()
    url = serializers.CharField()


class OwnerField(serializers.SlugRelatedField[Any]):
    """The username of the owner. Rejects users whom the caller may not see."""

    def get_queryset(self) -> Any:
        row = getattr(self.root, "instance", None)
        return visible_users(
            self.context["request"].user, row if isinstance(row, Application) else None
        )


class ListedApplicationSerializer(RowSerializer[Application]):
    """An application in a list. Its manifest is omitted, because it may be large."""

    owner = OwnerField(
        slug_field="username",
        queryset=get_user_model()._default_manager.all(),
        allow_null=True,
        required=False,
    )

    state = serializers.SerializerMethodField()
    tile = serializers.SerializerMethodField(
        help_text="The emoji, initials, color or image URL of the icon."
    )

    class Meta:
        model = Application
        fields: tuple[str, ...] = LISTED
        read_only_fields = ("live_number",)

    @extend_schema_field(serializers.ChoiceField(choices=ApplicationState.choices))
    def get_state(self, application: Application) -> str:
        return application_state(application).value

    @extend_schema_field(TileSerializer)
    def get_tile(self, row: Application) -> dict[str, Any]:
        return asdict(tile_of(row.title, row.slug, row.icon))


class ApplicationSerializer(ListedApplicationSerializer):
    warnings = serializers.SerializerMethodField()

    class Meta(ListedApplicationSerializer.Meta):
        fields = (*LISTED, "manifest", "warnings")

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        if field_name != "manifest":
            return super().build_standard_field(field_name, model_field)
        return ManifestJson, {"required": False}

    @extend_schema_field(WarningSerializer(many=True))
    def get_warnings(self, application: Application) -> list[dict[str, str]]:
        return [
            asdict(problem)
            for problem in in_manifest(review_manifest(application.manifest).warnings)
        ]

    def create(self, validated_data: dict[str, Any]) -> Application:
        request = self.context["request"]
        values = {"owner": request.user, **validated_data}
        row = new_draft(request, values) if is_draft(request) else super().create(values)
        if row.needs_second_publisher:
            audit_rule(row, request.user, address_of(request))
        return row

    def update(self, instance: Application, validated_data: dict[str, Any]) -> Application:
        request = self.context["request"]
        validated_data = self.changed(instance, validated_data)
        changed = [
            name
            for name in GRANTING
            if validated_data.get(name, value := getattr(instance, name)) != value
        ]
        if changed and not may_grant(request, instance):
            raise RowInvalid([Problem(name, OWNERS_ONLY) for name in changed])
        before = instance.needs_second_publisher
        is_ruled = validated_data.get(TWO_PEOPLE, before) != before
        if is_ruled and not may_rule_publishing(request, instance):
            raise RowInvalid([Problem(TWO_PEOPLE, SUPERUSERS_ONLY if before else OWNERS_ONLY)])
        address = address_of(request)
        if not validated_data.keys() & {*COLUMNS}:
            try:
                return set_properties.execute(
                    instance, validated_data, request.user, address=address
                )
            except ValidationError as error:
                raise RowInvalid(problems_of_row(error)) from error
        row = super().update(instance, validated_data)
        if is_ruled:
            audit_rule(row, request.user, address)
        return row

    def changed(self, row: Application, values: dict[str, Any]) -> dict[str, Any]:
        """Omit versioned columns, such as the title, that the client sent back unchanged."""
        return {
            name: value
            for name, value in values.items()
            if name not in COLUMNS
            or self.fields[name].to_internal_value(getattr(row, name)) != value
        }

    def before_save(self, row: Application, values: dict[str, Any]) -> None:
        """Replace the plain credentials in the manifest with secrets. Raises `PermissionDenied` if
        the request changes versioned columns and the user may not publish.
        """
        if values.keys() & {*COLUMNS}:
            check_may_publish(self.context["request"])
        if "manifest" not in values:
            return
        user = self.context["request"].user
        if refused := forbidden_credentials(row.manifest, user):
            raise RowInvalid(in_manifest(refused))
        stored = [self.instance.manifest] if isinstance(self.instance, Application) else []
        row.manifest = extract(row.manifest, stored, user=user).document

    def check(self, row: Application) -> None:
        check_row(row)

    def store(self, row: Application) -> None:
        """Save and publish the application. Raises `PermissionDenied` if publishing it requires a
        second user.
        """
        try:
            save.execute(row)
        except SecondPublisherRequired as error:
            raise PermissionDenied(error.messages[0]) from error


def is_draft(request: Request) -> bool:
    return request.query_params.get("draft", "").lower() in ("1", "true")


def new_draft(request: Request, values: dict[str, Any]) -> Application:
    """Store and return an application that has only a draft. Raises `RowInvalid` if a value is
    invalid.
    """
    row = Application(**values)
    try:
        create.execute(row, request.user)  # type: ignore[arg-type]
    except ValidationError as error:
        raise RowInvalid(problems_of_row(error)) from error
    return row


@extend_schema_field(OpenApiTypes.OBJECT)
class ManifestJson(serializers.JSONField):
    """A manifest. Responses mask plain credentials, and requests can contain the masks instead of
    the credentials.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: Any) -> Any:
        return mask_credentials(value)

    def to_internal_value(self, data: Any) -> Any:
        """Replace masks with the stored credentials. Raises `RowInvalid` if one has no match."""
        stored = getattr(self.root, "instance", None)
        current = stored.manifest if isinstance(stored, Application) else None
        found = unmask_document(super().to_internal_value(data), current)
        if found.problems:
            raise RowInvalid(in_manifest(found.problems))
        return with_own_names(found.document)
