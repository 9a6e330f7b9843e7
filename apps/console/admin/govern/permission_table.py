"""A form field that shows permissions as a table: a row for each page of the menu, and a checkbox for
each permission.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

from django.contrib.auth.models import Permission
from django.forms import CheckboxSelectMultiple
from django.utils.text import capfirst

from apps.admin_pages import Group
from apps.console.admin.govern.permission_field import PermissionsField, app_title, short_name
from apps.console.menu import declared_pages

ACTIONS = ("view", "add", "change", "delete")


@dataclass(frozen=True, slots=True)
class PermissionBox:
    """A checkbox of the table."""

    value: str
    name: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """A row of the table, with the permissions for one model."""

    title: str
    boxes: dict[str, PermissionBox] = field(default_factory=dict)
    """The checkboxes by action."""
    more: list[PermissionBox] = field(default_factory=list)

    @property
    def cells(self) -> list[tuple[str, PermissionBox | None]]:
        return [(capfirst(action), self.boxes.get(action)) for action in ACTIONS]


class PermissionTable(CheckboxSelectMultiple):
    template_name = "admin/auth/group/permissions.html"

    class Media:
        css = {"all": ("console/pages.css",)}

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        chosen = {str(one) for one in value or ()}
        choices: Any = self.choices
        context["actions"] = [capfirst(action) for action in ACTIONS]
        context["sections"] = [*table_sections(choices.queryset, chosen)]
        return context


class PermissionTableField(PermissionsField):
    widget = PermissionTable


def table_sections(
    permissions: Iterable[Permission], chosen: set[str]
) -> Iterator[tuple[str, list[PermissionRow]]]:
    """Yield the headings of the menu with their rows, in the order of the menu. The permissions for
    a model without a page are in the row of the first page of its Django app. An app without a page
    has a row under the last heading, "Other".
    """
    pages = [page for page in declared_pages() if page.model]
    by_app = {app_of(page.model): page for page in reversed(pages)}
    by_model = by_app | {page.model: page for page in reversed(pages)}
    rows = {page.model: PermissionRow(page.title) for page in pages[::-1]}
    others: dict[str, PermissionRow] = {}
    for one in permissions:
        kind = one.content_type
        model = f"{kind.app_label}.{kind.model}"
        page = by_model.get(model) or by_app.get(kind.app_label)
        box = PermissionBox(str(one.pk), short_name(one), str(one.pk) in chosen)
        action = one.codename.removesuffix(f"_{kind.model}")
        if page is None:
            row = others.setdefault(kind.app_label, PermissionRow(app_title(kind.app_label)))
            row.more.append(box)
        elif action in ACTIONS and page.model == model:
            rows[model].boxes[action] = box
        else:
            rows[page.model].more.append(box)
    for heading in get_args(Group):
        models = dict.fromkeys(page.model for page in pages if page.group == heading)
        if found := [rows[model] for model in models if rows[model].boxes or rows[model].more]:
            yield heading, found
    if others:
        yield "Other", [*others.values()]


def app_of(model: str) -> str:
    return model.partition(".")[0]
