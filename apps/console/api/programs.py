"""Serves the API for OAuth clients ("programs") and users' connections to them. Only the response
that creates a secret contains it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import ValidationError
from django.db import transaction
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.client_address import address_of
from apps.accounts.models import Program, ProgramConnection
from apps.accounts.oauth import clients, programs
from apps.accounts.oauth.connections import end_connections
from apps.console.api.strict_serializers import StrictModelSerializer
from apps.errors import Refused

UNCHANGEABLE = "This field cannot be changed. Delete this program and register another one."
NOT_REGISTERED = "An operator can change only programs that an operator registered."
ONLY_CONFIDENTIAL = "Only confidential programs that an operator registered have a secret here."
SOURCES = ("operator", "document", "registration")
SECRET = inline_serializer("ProgramSecret", {"client_secret": serializers.CharField()})


def checked(check: Callable[[Any], None], value: Any) -> None:
    """Call `check` with the value, and convert Django's `ValidationError` to DRF's."""
    try:
        check(value)
    except ValidationError as error:
        raise serializers.ValidationError(error.messages) from error


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class RedirectUrisField(serializers.ListField):
    child = serializers.CharField(max_length=clients.LONGEST_ADDRESS)

    def to_internal_value(self, data: Any) -> list[str]:
        addresses: list[str] = super().to_internal_value(data)
        checked(clients.check_addresses, addresses)
        return addresses

    def get_attribute(self, instance: Program) -> list[str]:
        found: list[str] = instance.get_redirect_uris()
        return found


class ProgramSerializer(StrictModelSerializer[Program]):
    created_secret = ""
    """The secret of a program that this request has registered, else ""."""
    id = serializers.SerializerMethodField(
        help_text="The client ID, encoded for the URLs of this API."
    )
    client_id = serializers.CharField(source="pk", read_only=True)
    type = serializers.ChoiceField(choices=["confidential", "public"])
    redirect_uris = RedirectUrisField(help_text="Up to 10 redirect URIs.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # also a setting of fields
        choices=SOURCES, read_only=True, help_text="The source of the name and the redirect URIs."
    )
    is_blocked = serializers.BooleanField(
        required=False, help_text="Blocking a program also disconnects it from all users."
    )
    client_secret = serializers.SerializerMethodField(
        help_text=(
            "The secret of a confidential program. Returned only when the program is "
            "created; null afterwards."
        )
    )

    class Meta:
        model = Program
        fields: Sequence[str] = (
            *("id", "client_id", "name", "type", "redirect_uris", "source", "is_blocked"),
            *("client_secret", "created_at"),
        )
        read_only_fields = ("created_at",)

    def get_id(self, row: Program) -> str:
        return str(quote(row.pk))

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_client_secret(self, row: Program) -> str | None:
        return self.created_secret or None

    def validate_name(self, value: str) -> str:
        checked(clients.check_name, value)
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        row = self.instance
        if not isinstance(row, Program):
            return attrs
        if attrs.get("type", row.type) != row.type:
            raise serializers.ValidationError({"type": UNCHANGEABLE})
        if row.source != "operator":
            stored = {"name": row.name, "redirect_uris": row.get_redirect_uris()}
            changed = [name for name in stored if attrs.get(name, stored[name]) != stored[name]]
            if changed:
                raise serializers.ValidationError(dict.fromkeys(changed, NOT_REGISTERED))
        return attrs

    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> Program:
        is_blocked = validated_data.pop("is_blocked", False)
        row = Program(name=validated_data["name"], type=validated_data["type"])
        row.set_redirect_uris(validated_data["redirect_uris"])
        try:
            self.created_secret = programs.prepare_program(row)
        except Refused as refusal:
            raise serializers.ValidationError({"name": [str(refusal)]}) from refusal
        row.save(force_insert=True)
        self.record("program.registered", row)
        return self.block(row, is_blocked)

    @transaction.atomic
    def update(self, instance: Program, validated_data: dict[str, Any]) -> Program:
        is_blocked = validated_data.pop("is_blocked", instance.is_blocked)
        before = (instance.name, instance.redirect_uris)
        instance.name = validated_data.get("name", instance.name)
        if "redirect_uris" in validated_data:
            instance.set_redirect_uris(validated_data["redirect_uris"])
        if (instance.name, instance.redirect_uris) != before:
            instance.save(update_fields=["name", "redirect_uris"])
            self.record("program.changed", instance)
        return self.block(instance, is_blocked)

    def block(self, row: Program, is_blocked: bool) -> Program:
        request = self.context["request"]
        programs.set_blocked([row.pk], request.user, address_of(request), on=is_blocked)
        row.refresh_from_db(fields=["data"])
        return row

    def record(self, event: Any, row: Program) -> None:
        request = self.context["request"]
        programs.record_program(event, row, request.user, address_of(request))


class ProgramViewSet(viewsets.ModelViewSet[Program]):
    """OAuth clients that an operator registered, that a user has connected, or that are blocked."""

    queryset = Program.objects.order_by("name", "pk")
    serializer_class = ProgramSerializer
    lookup_value_regex = "[^/]{1,300}"
    http_method_names: Sequence[str] = ("get", "head", "options", "post", "patch", "delete")

    def get_queryset(self) -> Any:
        return programs.listed_programs().order_by("name", "pk")

    def get_object(self) -> Program:
        self.kwargs["pk"] = unquote(self.kwargs["pk"])
        return super().get_object()

    @transaction.atomic
    def perform_destroy(self, instance: Program) -> None:
        address = address_of(self.request)
        programs.record_program("program.deleted", instance, self.request.user, address)
        super().perform_destroy(instance)

    @extend_schema(request=None, responses=SECRET)
    @action(detail=True, methods=["post"], url_path="secret")
    @transaction.atomic
    def renew_secret(self, request: Request, pk: str) -> Response:
        """Create a new secret. The previous secret becomes invalid at once."""
        row = self.get_object()
        if not request.user.has_perm("accounts.change_program"):
            self.permission_denied(request)
        if row.source != "operator" or not row.is_confidential:
            raise serializers.ValidationError({"client_secret": [ONLY_CONFIDENTIAL]})
        secret = programs.new_secret(row)
        row.save(update_fields=["secret"])
        programs.record_program("program.changed", row, request.user, address_of(request))
        return Response({"client_secret": secret})


class ProgramConnectionSerializer(StrictModelSerializer[ProgramConnection]):
    program = serializers.CharField(source="program.pk", help_text="The client ID.")
    program_name = serializers.CharField(source="program.name")
    user = serializers.CharField(source="user.username")
    team = serializers.CharField(
        source="team.group.name",
        default=None,
        allow_null=True,
        help_text="The team that the program works in; null for the personal workspace.",
    )
    application = serializers.SerializerMethodField(
        help_text="The slug of the application that the program can use; null for all."
    )

    class Meta:
        model = ProgramConnection
        fields: Sequence[str] = (
            *("id", "program", "program_name", "user", "team", "application"),
            *("connected_at", "last_used_at"),
        )
        read_only_fields = fields

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_application(self, row: ProgramConnection) -> str | None:
        return row.slug or None


class ProgramConnectionViewSet(
    mixins.DestroyModelMixin, viewsets.ReadOnlyModelViewSet[ProgramConnection]
):
    """Users' connections to programs. Deleting a connection disconnects the program."""

    queryset = ProgramConnection.objects.select_related("program", "user", "team__group").order_by(
        "-pk"
    )
    serializer_class = ProgramConnectionSerializer
    lookup_value_regex = "[0-9]{1,18}"

    def perform_destroy(self, instance: ProgramConnection) -> None:
        rows = ProgramConnection.objects.filter(pk=instance.pk)
        end_connections(rows, self.request.user, address_of(self.request))
