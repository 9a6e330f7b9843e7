"""Serves the API for predefined content: the active items, and database rows that override items
from files.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.forms import modelform_factory
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.content.models import ContentItem
from apps.catalog.content.review import problems_by_item
from apps.catalog.credentials.masking import masked_text
from apps.console.admin.content.form import DOCUMENTS, ContentForm, stack_of
from apps.console.admin.content.items import reload_content
from apps.console.admin.content.layers import filtered_stacks, item_title
from apps.console.api.authentication import StaffWithPermission
from apps.console.api.problems import RowInvalid
from apps.console.api.strict_serializers import StrictSerializer
from apps.console.api.versioned_rows import IF_MATCH, check_version
from apps.manifest.markdown.skill_files import SKILL_FILE
from apps.manifest.problems import ROOT, Problem

IN_FILES = "The item is not a row but comes from files. Use PUT to replace it."


class ListedItemSerializer(StrictSerializer[Any]):
    kind = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    layer = serializers.CharField(
        read_only=True,
        help_text=("The layer of the active item: `built in`, a directory or `database`."),
    )
    layers = serializers.IntegerField(
        read_only=True, help_text=("The number of layers that contain the item.")
    )
    problems = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text=("The reasons why the item cannot be used."),
    )


class ItemSerializer(ListedItemSerializer):
    """A predefined item. `version` is the version of its database row, or 0 if it has none."""

    text = serializers.CharField(
        trim_whitespace=False,
        allow_blank=True,
        help_text="Markdown (for a skill, SKILL.md), or JSON for a tool or toolset.",
    )
    files = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False, allow_blank=True),
        required=False,
        help_text="For a skill: its other text files, by path.",
    )
    version = serializers.IntegerField(read_only=True)


class ContentPermission(StaffWithPermission):
    """Requires only the view permission for PUT. The view then checks the permission to add or to
    change content.
    """

    perms_map = {**StaffWithPermission.perms_map, "PUT": ["catalog.view_contentitem"]}


class ContentViewSet(GenericViewSet[ContentItem]):
    queryset = ContentItem.objects.order_by("kind", "name")
    serializer_class = ItemSerializer
    permission_classes = (ContentPermission,)

    @extend_schema(
        responses=ListedItemSerializer(many=True),
        parameters=[
            OpenApiParameter("kind", OpenApiTypes.STR, enum=ContentItem.Kind.values),
            OpenApiParameter("q", OpenApiTypes.STR, description="Filter by part of the name."),
            OpenApiParameter("state", OpenApiTypes.STR, enum=("broken", "replaced", "row")),
        ],
    )
    def list(self, request: Request) -> Response:
        content = installed_content()
        stacks = filtered_stacks(content, request.query_params)
        page = self.paginate_queryset(stacks) or []
        return self.get_paginated_response([list_content(content, stack) for stack in page])

    def retrieve(self, request: Request, kind: str, name: str) -> Response:
        return self.shown(kind, name)

    @extend_schema(parameters=[IF_MATCH])
    @transaction.atomic
    def update(self, request: Request, kind: str, name: str) -> Response:
        """Create or change the database row, which overrides the item from files."""
        row = self.row(kind, name)
        self.check_right("add" if row is None else "change")
        check_version(request, row or ContentItem())
        sent = ItemSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        save_row(
            row or ContentItem(), {"kind": kind, "name": name, **sent.validated_data}, request.user
        )
        code = status.HTTP_201_CREATED if row is None else status.HTTP_200_OK
        return self.shown(kind, name, code)

    @extend_schema(parameters=[IF_MATCH])
    @transaction.atomic
    def destroy(self, request: Request, kind: str, name: str) -> Response:
        """Delete the database row. The item from files, if there is one, becomes active again."""
        row = self.row(kind, name)
        if row is None:
            stack_or_404(kind, name)
            raise MethodNotAllowed("DELETE", IN_FILES)
        check_version(request, row)
        row.delete()
        reload_content()
        return Response(status=status.HTTP_204_NO_CONTENT)

    def get_object(self) -> ContentItem:
        """Return the item's database row, for OPTIONS requests."""
        return get_object_or_404(self.get_queryset(), **self.kwargs)

    def row(self, kind: str, name: str) -> ContentItem | None:
        return self.get_queryset().select_for_update().filter(kind=kind, name=name).first()

    def check_right(self, action: str) -> None:
        """Raise `PermissionDenied` if the user lacks the permission for "add" or "change"."""
        if not self.request.user.has_perm(f"catalog.{action}_contentitem"):
            self.permission_denied(self.request)

    def shown(self, kind: str, name: str, code: int = status.HTTP_200_OK) -> Response:
        stack = stack_or_404(kind, name)
        versions = ContentItem.objects.filter(kind=kind, name=name).values_list("version")
        (version,) = versions.first() or (0,)
        found = {
            **list_content(installed_content(), stack),
            **contents(stack[-1]),
            "version": version,
        }
        return Response(found, code, headers={"ETag": f'"{version}"'})


def list_content(content: Content, stack: Sequence[LayerItem]) -> dict[str, Any]:
    item = stack[-1]
    return {
        "kind": item.kind,
        "name": item.name,
        "layer": item_title(content, item),
        "layers": len(stack),
        "problems": [*problems_by_item(content).get((item.kind, item.name), ())],
    }


def contents(item: LayerItem) -> dict[str, Any]:
    """Return the text of an item, with masked credentials, and the other files of a skill."""
    is_skill = item.kind == "skill" and isinstance(item.value, dict)
    files = (
        {path: text for path, text in item.value.items() if path != SKILL_FILE} if is_skill else {}
    )
    return {"text": masked_text(item.text) if item.kind in DOCUMENTS else item.text, "files": files}


def stack_or_404(kind: str, name: str) -> Sequence[LayerItem]:
    """Return the item's definitions in all layers. The last one takes effect."""
    stack = stack_of(kind, name)
    if not stack:
        raise Http404
    return stack


def save_row(row: ContentItem, values: Mapping[str, Any], user: Any) -> None:
    """Save the row with these values. Raises `RowInvalid` if the admin's form rejects them."""
    made: Any = modelform_factory(
        ContentItem, form=ContentForm, fields=("kind", "name", "text", "files")
    )
    form = type("ApiContentForm", (made,), {"saver": user})(
        {"files": row.files, **values}, instance=row
    )
    if not form.is_valid():
        raise RowInvalid(
            [
                Problem(ROOT if name == "__all__" else name, str(message))
                for name, messages in form.errors.items()
                for message in messages
            ]
        )
    form.save()
    reload_content()
