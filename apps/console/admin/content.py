"""Predefined content: what lies in which layer, and the rows that operators put above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST, require_safe

from apps.catalog.content.folders import FOLDERS
from apps.catalog.content.installed import installed, look_again
from apps.catalog.content.items import LARGEST_FILE, Item, Kind
from apps.catalog.content.models import ContentItem
from apps.catalog.content.previews import preview
from apps.catalog.content.review import item_problems, with_item
from apps.catalog.masking import unmasked_text
from apps.catalog.uses import NOBODY, Reference
from apps.console.admin import content_pages as pages
from apps.console.admin.content_form import DOCUMENTS, ContentForm, doubts_of, sources_of
from apps.console.admin.document_form import DocumentAdmin
from apps.console.admin.skill_files import FilesField, FilesWidget
from apps.manifest.problems import Problem
from apps.manifest.skill_document import SKILL_FILE

PAGE = "admin:catalog_contentitem_item"
NEW_SKILL = """\
---
name: {name}
description:
---

"""
"""What the text of a skill begins with."""


@admin.register(ContentItem)
class ContentAdmin(DocumentAdmin[ContentItem]):
    form = ContentForm
    fieldsets = (
        (None, {"fields": ("kind", "name", "text", "files")}),
        ("History", {"fields": ("version", "created_at", "updated_at"), "classes": ("collapse",)}),
    )
    readonly_fields = ("version", "created_at", "updated_at")
    search_fields = ("name",)
    delete_confirmation_template = "admin/catalog/contentitem/reset.html"

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
        return (first, self.fieldsets[1]) if obj is not None else (first,)

    def get_readonly_fields(self, request: HttpRequest, obj: ContentItem | None = None) -> Any:
        """Under another name it would be another item, which nobody refers to."""
        return (*self.readonly_fields, "kind", "name") if obj is not None else self.readonly_fields

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """What replaces an item starts as that item; it becomes a row when it is saved."""
        kind, name = request.GET.get("kind", ""), request.GET.get("name", "")
        item = found(kind, name)
        if item is None:
            text = NEW_SKILL.format(name=name) if kind == "skill" else ""
            return {"kind": kind, "name": name, "text": text}
        beside = {k: v for k, v in item.value.items() if k != SKILL_FILE} if is_skill(item) else {}
        return {"kind": kind, "name": name, "text": item.text, "files": beside}

    # --- What changed is seen at once --------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: ContentItem, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        tell_of_change()
        if obj.kind in DOCUMENTS:
            for doubt in doubts_of(obj.text, (), obj.name):
                self.message_user(request, f"{doubt.path}: {doubt.message}", messages.WARNING)

    def delete_model(self, request: HttpRequest, obj: ContentItem) -> None:
        super().delete_model(request, obj)
        tell_of_change()

    def response_post_save_add(self, request: HttpRequest, obj: ContentItem) -> HttpResponse:
        return redirect(PAGE, obj.kind, obj.name)

    def response_post_save_change(self, request: HttpRequest, obj: ContentItem) -> HttpResponse:
        return redirect(PAGE, obj.kind, obj.name)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        below = stack_of(row.kind, row.name)[:-1] if row is not None else ()
        context = {**(extra_context or {}), "below": below[-1] if below else None}
        answer: HttpResponse = super().delete_view(request, object_id, context)
        if below and row is not None and isinstance(answer, HttpResponseRedirectBase):
            return redirect(PAGE, row.kind, row.name)
        return answer

    # --- Pages -------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        def staff(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        return [
            path(
                "item/<str:kind>/<str:name>/",
                staff(require_safe(self.item_view)),
                name="catalog_contentitem_item",
            ),
            path(
                "preview/",
                staff(require_POST(self.preview_view)),
                name="catalog_contentitem_preview",
            ),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Every item in force, whichever layer it is from. Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        content = installed()
        page = Paginator(pages.entries(content, request.GET), pages.PER_PAGE).get_page(
            request.GET.get("page")
        )
        kept = request.GET.copy()
        kept.pop("page", None)
        context = {
            **self.admin_site.each_context(request),
            "title": "Predefined content",
            "opts": self.opts,
            "entries": list(pages.shown(content, list(page), pages.all_uses(content))),
            "page": page,
            "kept": kept.urlencode(),
            "asked": request.GET,
            "kinds": list(FOLDERS),
            "states": pages.STATES,
            "problems": content.problems,
            "missing": content.missing,
            "layers": content.layers,
            "has_add_permission": self.has_add_permission(request),
        }
        return TemplateResponse(request, "admin/catalog/contentitem/list.html", context)

    def item_view(self, request: HttpRequest, kind: str, name: str) -> HttpResponse:
        """One item in all its layers. Raises PermissionDenied, Http404."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        content, stack = installed(), stack_of(kind, name)
        if not stack:
            raise Http404
        item = stack[-1]
        row = ContentItem.objects.filter(kind=kind, name=name).first()
        context = {
            **self.admin_site.each_context(request),
            "title": f"{item.kind} {item.name}",
            "opts": self.opts,
            "item": item,
            "layers": pages.layers_of(content, stack),
            "problems": list(item_problems(content, item)),
            "blocks": preview(content, item),
            "uses": pages.all_uses(content).get(Reference(item.kind, item.name), NOBODY),
            "deployments": pages.deployments_of(item.kind, item.name),
            "row": row,
            "below": stack[-2] if row is not None and len(stack) > 1 else None,
            "has_add_permission": self.has_add_permission(request),
            "has_change_permission": self.has_change_permission(request, row),
            "has_delete_permission": self.has_delete_permission(request, row),
        }
        return TemplateResponse(request, "admin/catalog/contentitem/item.html", context)

    def preview_view(self, request: HttpRequest) -> JsonResponse:
        """What the typed text comes to, without saving it. Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        text = request.POST.get("text", "").replace("\r\n", "\n")
        kind, name = request.POST.get("kind", ""), request.POST.get("name", "").strip() or "new"
        doubts: Sequence[Problem] = ()
        if kind in DOCUMENTS and len(text) <= LARGEST_FILE:
            row = ContentItem.objects.filter(kind=kind, name=name).first() or ContentItem()
            sources = sources_of(row, kind, name)
            doubts = doubts_of(text, sources, name)
            text, _ = unmasked_text(text, sources)
        if kind not in FOLDERS:
            return JsonResponse({"problems": ["Choose a kind first."], "blocks": []})
        if len(text) > LARGEST_FILE:
            return JsonResponse({"problems": ["The text is too long."], "blocks": []})
        try:
            files = FilesField(required=False).clean(
                FilesWidget().value_from_datadict(request.POST, {}, "files")
            )
        except forms.ValidationError as error:
            return JsonResponse({"problems": error.messages, "blocks": []})
        if files and kind != "skill":
            return JsonResponse({"problems": ["Only skills have files."], "blocks": []})
        item = ContentItem(kind=kind, name=name, text=text, files=files).item
        content = with_item(installed(), item)
        return JsonResponse(
            {
                "problems": list(item_problems(content, item)),
                "blocks": [block._asdict() for block in preview(content, item)],
                "doubts": [asdict(doubt) for doubt in doubts],
            }
        )


def tell_of_change() -> None:
    """This process sees it now, and again once it is committed; others see it within a second."""
    look_again()
    transaction.on_commit(look_again)


def stack_of(kind: str, name: str) -> tuple[Item, ...]:
    return installed().stacks.get(cast(Kind, kind), {}).get(name, ())


def found(kind: str, name: str) -> Item | None:
    stack = stack_of(kind, name)
    return stack[-1] if stack else None


def is_skill(item: Item) -> bool:
    return item.kind == "skill" and isinstance(item.value, dict)
