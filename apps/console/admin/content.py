"""Predefined content: the layers of each item, and the rows that operators put above them."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.models import Team
from apps.catalog.content.folders import FOLDERS
from apps.catalog.content.installed import installed, look_again
from apps.catalog.content.items import Item, ItemKind
from apps.catalog.content.models import ContentItem
from apps.catalog.content.previews import preview
from apps.catalog.content.review import item_problems
from apps.catalog.models import Role
from apps.catalog.uses import NOBODY, Reference, Uses
from apps.catalog.versions.content_changes import pending_content
from apps.console.admin.content_form import DOCUMENTS, ContentForm, doubts_of, stack_of
from apps.console.admin.content_layers import STATES, all_uses, entries, filtered_stacks, layers_of
from apps.console.admin.content_preview import preview_typed
from apps.console.admin.dependents import bullets
from apps.console.admin.document_form import DocumentAdmin
from apps.console.admin.recorded import HISTORY_FIELDS
from apps.console.admin.unpublished_content import unpublished_content
from apps.console.operated import seen, with_role
from apps.manifest.skill_files import SKILL_FILE

PER_PAGE = 50
MOST_NAMED = 5
"""Applications in the message after a change."""
MOST_LISTED = 100
"""Users of a row on the page that asks before it is deleted."""
PAGES = "admin/catalog/contentitem"
NEW_SKILL = """\
---
name: {name}
description:
---

"""
"""The initial text of a new skill."""


@admin.register(ContentItem)
class ContentAdmin(DocumentAdmin[ContentItem]):
    form = ContentForm
    fixed_fields = ("kind", "name")
    search_fields = ("name",)
    delete_confirmation_template = f"{PAGES}/reset.html"

    class Media:
        css = {"all": ("console/workbench.css", "console/content.css")}
        js = (
            forms.Script("console/content-preview.js", type="module"),
            forms.Script("console/skill-files.js", type="module"),
        )

    def get_fieldsets(self, request: HttpRequest, obj: ContentItem | None = None) -> Any:
        kind = obj.kind if obj is not None else request.GET.get("kind", "")
        names = ("kind", "name", "text", *(("files",) if kind in ("", "skill") else ()))
        first = (None, {"fields": names})
        return (first, HISTORY_FIELDS) if obj is not None else (first,)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        kind, name = request.GET.get("kind", ""), request.GET.get("name", "")
        stack = stack_of(kind, name)
        if not stack:
            text = NEW_SKILL.format(name=name) if kind == "skill" else ""
            return {"kind": kind, "name": name, "text": text}
        item = stack[-1]  # the row that replaces it starts as a copy
        is_skill = item.kind == "skill" and isinstance(item.value, dict)
        files = {k: v for k, v in item.value.items() if k != SKILL_FILE} if is_skill else {}
        return {"kind": kind, "name": name, "text": item.text, "files": files}

    def save_model(self, request: HttpRequest, obj: ContentItem, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        reload_content()
        self.tell_pending(request)
        if obj.kind in DOCUMENTS:
            for doubt in doubts_of(obj.text, (), obj.name):
                self.message_user(request, f"{doubt.path}: {doubt.message}", messages.WARNING)

    def delete_model(self, request: HttpRequest, obj: ContentItem) -> None:
        super().delete_model(request, obj)
        reload_content()
        self.tell_pending(request)

    def tell_pending(self, request: HttpRequest) -> None:
        """Say which applications go on with what was before."""
        mine = with_role(request, Role.EDITOR).order_by().values_list("pk", flat=True)
        if found := pending_content(mine):
            names = ", ".join(one.title for one in found[:MOST_NAMED])
            more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
            said = '{}{} go on with the content of their publishing. <a href="{}">See what would change</a>'
            address = self.url("unpublished")
            self.message_user(request, format_html(said, names, more, address), messages.WARNING)

    def response_post_save_add(self, request: HttpRequest, obj: ContentItem) -> HttpResponse:
        return redirect(self.url("item", obj.kind, obj.name))

    response_post_save_change = response_post_save_add

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        below = stack_of(row.kind, row.name)[:-1] if row is not None else ()
        context = {**(extra_context or {}), "below": below[-1] if below else None}
        answer: HttpResponse = super().delete_view(request, object_id, context)
        if below and row is not None and isinstance(answer, HttpResponseRedirectBase):
            return redirect(self.url("item", row.kind, row.name))
        return answer

    def consequences(self, request: HttpRequest, rows: Iterable[ContentItem]) -> list[SafeString]:
        """The users of rows below which there is no other layer."""
        alone = [row for row in rows if len(stack_of(row.kind, row.name)) == 1]
        uses = all_uses(installed(), seen(request)) if alone else {}
        lines = [
            lines_of(uses.get(Reference(cast(ItemKind, row.kind), row.name), NOBODY), row)
            for row in alone
        ]
        words = "<p>{} is used by these, which go without it once they are published again:</p>{}"
        return [
            format_html(words, row, bullets(found))
            for row, found in zip(alone, lines, strict=True)
            if found
        ]

    def get_urls(self) -> list[URLPattern]:
        item = "item/<str:kind>/<str:name>/"
        return [
            self.viewer_path(item, require_safe(self.item_view), "item"),
            self.viewer_path("unpublished/", partial(unpublished_content, self), "unpublished"),
            self.viewer_path("preview/", require_POST(preview_typed), "preview"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """All items in force. Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        content = installed()
        stacks = Paginator(filtered_stacks(content, request.GET), PER_PAGE)
        page = stacks.get_page(request.GET.get("page"))
        context = {
            "entries": entries(content, page, seen(request)),
            "page": page,
            "asked": request.GET,
            "kinds": list(FOLDERS),
            "states": STATES,
            "content": content,
            "has_add_permission": self.has_add_permission(request),
        }
        return self.page(request, f"{PAGES}/list.html", "Predefined content", context)

    def item_view(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """One item in all its layers. Raises Http404."""
        content, stack = installed(), stack_of(kind, name)
        if not stack:
            raise Http404
        item = stack[-1]
        row = ContentItem.objects.filter(kind=kind, name=name).first()
        context = {
            "item": item,
            "layers": layers_of(content, stack),
            "problems": list(item_problems(content, item)),
            "blocks": preview(content, item),
            "uses": all_uses(content, seen(request)).get(Reference(item.kind, item.name), NOBODY),
            "deployments": deployments_of(item),
            "elsewhere": uses_elsewhere(item.kind, item.name),
            "row": row,
            "below": stack[-2] if row is not None and len(stack) > 1 else None,
            "has_add_permission": self.has_add_permission(request),
            "has_change_permission": self.has_change_permission(request, row),
            "has_delete_permission": self.has_delete_permission(request, row),
        }
        return self.page(request, f"{PAGES}/item.html", f"{item.kind} {item.name}", context)


def reload_content() -> None:
    """In this process now and after the commit; other processes follow within a second."""
    look_again()
    transaction.on_commit(look_again)


def lines_of(uses: Uses, row: ContentItem) -> list[str]:
    """The users of a row, a line for each."""
    shown = [
        *(f"{application.title} (application)" for application in uses.applications),
        *(f"{other.name} ({other.kind})" for other in uses.items),
    ]
    more = [f"and {len(shown) - MOST_LISTED} more"] if len(shown) > MOST_LISTED else []
    return [*shown[:MOST_LISTED], *more, *uses_elsewhere(row.kind, row.name)]


def uses_elsewhere(kind: str, name: str) -> list[str]:
    """Return the references to an item by a setting and by teams."""
    if kind != "prompt":
        return []
    teams = Team.objects.filter(prompt=name).count()
    found = [f"{teams} {'team' if teams == 1 else 'teams'}"] if teams else []
    if name == settings.PLATFORM_PROMPT:
        found.insert(0, "every application: it is the PLATFORM_PROMPT of the installation")
    return found


def deployments_of(item: Item) -> Sequence[str]:
    """The deployments that a prompt is mapped to in the settings."""
    return settings.CONFIG_PROMPT_MAPPING.get(item.name, ()) if item.kind == "prompt" else ()
