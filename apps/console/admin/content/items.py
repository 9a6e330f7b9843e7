"""Defines the admin pages for predefined content. Operators see the definitions of an item in all
layers (built in, configured directories, database), and can edit those in the database.
"""

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
from apps.catalog.content.installed import expire_content, installed_content
from apps.catalog.content.items import KIND_TITLES, ItemKind, LayerItem
from apps.catalog.content.models import ContentItem
from apps.catalog.content.previews import preview
from apps.catalog.content.review import item_problems
from apps.catalog.models import Role
from apps.catalog.uses import NOBODY, ItemReference, Uses
from apps.catalog.versions.content_changes import outdated_applications
from apps.console.admin.content.form import (
    DOCUMENTS,
    ContentForm,
    doubts_of,
    stack_of,
)
from apps.console.admin.content.item_preview import preview_item
from apps.console.admin.content.layers import (
    STATES,
    all_uses,
    filtered_stacks,
    layer_entries,
    layers_of,
    required_tools,
)
from apps.console.admin.content.unpublished import unpublished_content
from apps.console.admin.rows.dependents import bullet_list
from apps.console.admin.rows.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.link_choices import link_choices
from apps.console.operator_rights import visible_applications, with_role
from apps.manifest.markdown.skill_files import SKILL_FILE
from apps.runs.prompt import PLATFORM_PROMPT

PER_PAGE = 50
MOST_NAMED = 5
"""The warning about old predefined content names at most this many applications."""
MOST_LISTED = 100
"""The page that confirms a deletion lists at most this many uses of the item."""
PAGES = "admin/catalog/contentitem"
NEW_SKILL = """\
---
name: {name}
description:
---

"""
"""The form for a new skill starts with this text."""


@admin.register(ContentItem)
class ContentAdmin(RecordedAdmin[ContentItem]):
    form = ContentForm
    fixed_fields = ("kind", "name")
    search_fields = ("name",)
    delete_confirmation_template = f"{PAGES}/reset.html"

    class Media:
        css = {"all": ("console/pages.css", "console/content/content.css")}
        js = (
            forms.Script("console/content/preview.js", type="module"),
            forms.Script("console/content/skill-files.js", type="module"),
        )

    def get_fieldsets(self, request: HttpRequest, obj: ContentItem | None = None) -> Any:
        kind = obj.kind if obj is not None else request.GET.get("kind", "")
        names = ("kind", "name", "text", *(("files",) if kind in ("", "skill") else ()))
        first = (None, {"fields": names})
        return (first, HISTORY_FIELDS) if obj is not None else (first,)

    def formfield_for_choice_field(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name == "kind":
            options["choices"] = [("", "Choose a kind"), *KIND_TITLES.items()]
        return super().formfield_for_choice_field(db_field, request, **options)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        kind, name = request.GET.get("kind", ""), request.GET.get("name", "")
        stack = stack_of(kind, name)
        if not stack:
            text = NEW_SKILL.format(name=name) if kind == "skill" else ""
            return {"kind": kind, "name": name, "text": text}
        item = stack[-1]  # The form for a new row starts with a copy of the item.
        is_skill = item.kind == "skill" and isinstance(item.value, dict)
        files = {k: v for k, v in item.value.items() if k != SKILL_FILE} if is_skill else {}
        return {"kind": kind, "name": name, "text": item.text, "files": files}

    def form_attributes(self, request: HttpRequest, obj: ContentItem | None) -> dict[str, Any]:
        return {**super().form_attributes(request, obj), "saver": request.user}

    def save_model(self, request: HttpRequest, obj: ContentItem, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for secret in form.made:
            servers = ", ".join(secret.servers)
            said = f"A credential is now stored as the secret {secret.name!r}, for {servers}."
            self.message_user(request, said)
        reload_content()
        self.warn_about_old_content(request)
        if obj.kind in DOCUMENTS:
            for doubt in doubts_of(obj.text, (), obj.name):
                self.message_user(request, f"{doubt.path}: {doubt.message}", messages.WARNING)

    def delete_model(self, request: HttpRequest, obj: ContentItem) -> None:
        super().delete_model(request, obj)
        reload_content()
        self.warn_about_old_content(request)

    def warn_about_old_content(self, request: HttpRequest) -> None:
        """Warn about the user's applications that still use the old predefined content."""
        mine = with_role(request, Role.EDITOR).order_by().values_list("pk", flat=True)
        if found := outdated_applications(mine):
            names = ", ".join(one.title for one in found[:MOST_NAMED])
            more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
            said = '{}{} still use the content with which they were published. <a href="{}">See what would change</a>'
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
        """Describe what breaks if the items are deleted. Omit items with a definition in another
        layer, because they remain usable.
        """
        alone = [row for row in rows if len(stack_of(row.kind, row.name)) == 1]
        uses = all_uses(installed_content(), visible_applications(request)) if alone else {}
        lines = [
            lines_of(uses.get(ItemReference(cast(ItemKind, row.kind), row.name), NOBODY), row)
            for row in alone
        ]
        words = "<p>These use {} and lose it when they are published again:</p>{}"
        return [
            format_html(words, row, bullet_list(found))
            for row, found in zip(alone, lines, strict=True)
            if found
        ]

    def get_urls(self) -> list[URLPattern]:
        item = "item/<str:kind>/<str:name>/"
        return [
            self.viewer_path(item, require_safe(self.item_view), "item"),
            self.viewer_path("unpublished/", partial(unpublished_content, self), "unpublished"),
            self.viewer_path("preview/", require_POST(preview_item), "preview"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List all predefined items in use. Raises `PermissionDenied` if the user may not see
        them.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        content = installed_content()
        stacks = Paginator(filtered_stacks(content, request.GET), PER_PAGE)
        page = stacks.get_page(request.GET.get("page"))
        context = {
            "entries": layer_entries(content, page, visible_applications(request)),
            "page": page,
            "asked": request.GET,
            "new_kind": kind if (kind := request.GET.get("kind", "")) in FOLDERS else "",
            "kinds": link_choices(request, "kind", {"": "All", **KIND_TITLES}),
            "states": link_choices(request, "state", {"": "All", **STATES}),
            "content": content,
            "has_add_permission": self.has_add_permission(request),
        }
        return self.page(request, f"{PAGES}/list.html", "Predefined content", context)

    def item_view(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """Show all definitions of a predefined item. Raises `Http404` if the item does not
        exist.
        """
        content, stack = installed_content(), stack_of(kind, name)
        if not stack:
            raise Http404
        item = stack[-1]
        row = ContentItem.objects.filter(kind=kind, name=name).first()
        context = {
            "item": item,
            "layers": layers_of(content, stack),
            "problems": list(item_problems(content, item)),
            "blocks": preview(content, item),
            "uses": all_uses(content, visible_applications(request)).get(
                ItemReference(item.kind, item.name), NOBODY
            ),
            "required_tools": required_tools(item),
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
    """Reload the predefined content in this process, now and after the commit. Other processes
    notice the change within a second.
    """
    expire_content()
    transaction.on_commit(expire_content)


def lines_of(uses: Uses, row: ContentItem) -> list[str]:
    """Return a line for each application, item, setting and team that uses the predefined item."""
    shown = [
        *(f"{application.title} (application)" for application in uses.applications),
        *(f"{other.name} ({other.kind})" for other in uses.items),
    ]
    more = [f"and {len(shown) - MOST_LISTED} more"] if len(shown) > MOST_LISTED else []
    return [*shown[:MOST_LISTED], *more, *uses_elsewhere(row.kind, row.name)]


def uses_elsewhere(kind: str, name: str) -> list[str]:
    """Describe the teams and the platform prompt that use a prompt. Returns [] for other kinds."""
    if kind != "prompt":
        return []
    teams = Team.objects.filter(prompt=name).count()
    found = [f"{teams} {'team' if teams == 1 else 'teams'}"] if teams else []
    if name == PLATFORM_PROMPT:
        found.insert(0, "every application: it is the platform prompt")
    return found


def deployments_of(item: LayerItem) -> Sequence[str]:
    """Return the deployments to which `CONFIG_PROMPT_MAPPING` assigns the prompt."""
    return settings.CONFIG_PROMPT_MAPPING.get(item.name, ()) if item.kind == "prompt" else ()
