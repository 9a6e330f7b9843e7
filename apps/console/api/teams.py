"""Serves the API for teams and their members. Creating or deleting a team also creates or deletes
its group.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.models import Team
from apps.accounts.team_members import check_administrators, remove_member, set_administrator
from apps.catalog.content.installed import installed_content
from apps.console.admin.govern.team_changes import record_changes, set_members, team_state
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.strict_serializers import StrictModelSerializer, StrictSerializer
from apps.console.giving import may_give
from apps.errors import Refused

CHANGE = "accounts.change_team"
TOO_MUCH = "The group of the team has permissions or applications that you lack."
MEMBER_ACTIONS = ("put_member", "remove_member")
USERNAME = OpenApiParameter("username", OpenApiTypes.STR, OpenApiParameter.PATH)


def people() -> QuerySet[User]:
    return User.objects.filter(is_active=True, service_account=None).order_by("username")


def usernames(help_text: str, **options: Any) -> Any:
    fixed: dict[str, Any] = {
        "slug_field": "username",
        "many": True,
        "required": False,
        "queryset": people(),
    }
    return serializers.SlugRelatedField[Any](help_text=help_text, **fixed, **options)


class TeamSerializer(StrictModelSerializer[Team]):
    name = serializers.CharField(source="group.name", max_length=150)
    members = usernames(
        "Usernames. Administrators of the team are always members.",
        source="group.user_set",
    )
    administrators = usernames("Usernames.")

    class Meta:
        model = Team
        fields = ("id", "name", "visibility", "prompt", "members", "administrators")
        extra_kwargs = {"visibility": {"required": False}, "prompt": {"required": False}}

    def validate_name(self, value: str) -> str:
        team = self.instance if isinstance(self.instance, Team) else Team()
        if Group.objects.filter(name=value).exclude(pk=team.group_id).exists():
            raise serializers.ValidationError("A group with this name already exists.")
        return value

    def validate_prompt(self, value: str) -> str:
        stored = self.instance.prompt if isinstance(self.instance, Team) else ""
        content = installed_content()
        if value in ("", stored) or value in content.items["prompt"]:
            return value
        near = content.near("prompt", value)
        raise serializers.ValidationError(f"There is no predefined prompt '{value}'{near}")

    def create(self, validated_data: dict[str, Any]) -> Team:
        group = validated_data.pop("group")
        team = Team(group=Group.objects.create(name=group.pop("name")))
        return self.saved(team, validated_data, group)

    def update(self, instance: Team, validated_data: dict[str, Any]) -> Team:
        group = validated_data.pop("group", {})
        if "name" in group:
            Group.objects.filter(pk=instance.group_id).update(name=group.pop("name"))
        return self.saved(instance, validated_data, group)

    def saved(self, team: Team, values: dict[str, Any], group: dict[str, Any]) -> Team:
        """Save the team with these values. Return a fresh copy, without outdated prefetched
        users.
        """
        administrators = values.pop("administrators", None)
        for name, value in values.items():
            setattr(team, name, value)
        team.save()
        if administrators is not None:
            with reported_at("administrators"):
                check_administrators(team, administrators)
            # The API does not list administrators with a closed account, so they remain.
            closed = team.administrators.filter(is_active=False)
            team.administrators.set({*administrators, *closed})
        members = people().filter(groups=team.group_id)
        set_members(team, group.get("user_set", members))
        return TeamViewSet.queryset.get(pk=team.pk)


@contextmanager
def reported_at(field: str) -> Iterator[None]:
    """Convert `Refused` to DRF's `ValidationError` for this field."""
    try:
        yield
    except Refused as refusal:
        raise serializers.ValidationError({field: str(refusal)}) from refusal


class MemberSerializer(StrictSerializer[Any]):
    is_administrator = serializers.BooleanField(required=False)


class TeamPermission(StaffWithPermission):
    """Allows users who may change teams to add and remove members. They need no other
    permission.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        if view.action in MEMBER_ACTIONS:
            user = request.user
            return user.is_active and user.is_staff and user.has_perm(CHANGE)
        return super().has_permission(request, view)


class TeamViewSet(viewsets.ModelViewSet[Team]):
    queryset = Team.objects.prefetch_related(
        Prefetch("group__user_set", people()), Prefetch("administrators", people())
    ).order_by("group__name", "pk")
    serializer_class = TeamSerializer
    permission_classes = (TeamPermission,)
    lookup_value_regex = "[0-9]{1,18}"
    http_method_names: Sequence[str] = ("get", "head", "options", "post", "put", "patch", "delete")

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        is_edit = self.action in ("update", "partial_update", "destroy", *MEMBER_ACTIONS)
        return rows.select_for_update(of=("self",)) if is_edit else rows

    def check_object_permissions(self, request: Request, obj: Team) -> None:
        # As in the admin, members have the group's permissions.
        super().check_object_permissions(request, obj)
        if request.method not in SAFE_METHODS and not may_give(request.user, obj.group):
            self.permission_denied(request, TOO_MUCH)

    @transaction.atomic
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().create(request, *args, **kwargs)

    @transaction.atomic
    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().update(request, *args, **kwargs)

    @transaction.atomic
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Delete the team, its group, the group's roles and the team's notes."""
        return super().destroy(request, *args, **kwargs)

    def perform_create(self, serializer: Any) -> None:
        self.record(None, serializer.save())

    def perform_update(self, serializer: Any) -> None:
        before = team_state(serializer.instance.group_id)
        self.record(before, serializer.save())

    def perform_destroy(self, instance: Team) -> None:
        before = team_state(instance.group_id)
        instance.group.delete()
        record_changes(cast(Any, self.request), before, None)

    def record(self, before: Any, team: Team) -> None:
        record_changes(cast(Any, self.request), before, team_state(team.group_id))

    @extend_schema(request=MemberSerializer, responses=TeamSerializer, parameters=[USERNAME])
    @action(detail=True, methods=["put"], url_path="members/(?P<username>[^/]+)")
    @transaction.atomic
    def put_member(self, request: Request, pk: str, username: str) -> Response:
        """Add a member to the team. `is_administrator` grants or revokes the administrator role."""
        team = self.get_object()
        sent = MemberSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        user = get_object_or_404(people(), username=username)
        before = team_state(team.group_id)
        user.groups.add(team.group)
        is_one = sent.validated_data.get("is_administrator")
        if is_one is not None:
            with reported_at("is_administrator"):
                set_administrator(team, user, is_administrator=is_one)
        return self.recorded_response(before, team)

    @extend_schema(responses={200: TeamSerializer}, parameters=[USERNAME])
    @put_member.mapping.delete
    @transaction.atomic
    def remove_member(self, request: Request, pk: str, username: str) -> Response:
        """Remove a member or an administrator from the team, except its last administrator."""
        team = self.get_object()
        user = get_object_or_404(team.group.user_set.all(), username=username)
        before = team_state(team.group_id)
        with reported_at("administrators"):
            remove_member(team, user)
        return self.recorded_response(before, team)

    def recorded_response(self, before: Any, team: Team) -> Response:
        self.record(before, team)
        return Response(self.get_serializer(TeamViewSet.queryset.get(pk=team.pk)).data)
