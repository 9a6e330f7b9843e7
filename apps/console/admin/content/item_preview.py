"""Previews a predefined item while an operator edits it."""

from collections.abc import Sequence
from dataclasses import asdict

from django import forms
from django.http import HttpRequest, JsonResponse, QueryDict

from apps.catalog.content.folders import FOLDERS
from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import LARGEST_FILE
from apps.catalog.content.models import ContentItem
from apps.catalog.content.previews import preview
from apps.catalog.content.review import item_problems, with_item
from apps.catalog.credentials.masking import unmasked_text
from apps.console.admin.content.form import DOCUMENTS, doubts_of, mask_sources
from apps.console.admin.content.skill_files import FilesField, FilesWidget
from apps.manifest.problems import Problem


def preview_item(request: HttpRequest) -> JsonResponse:
    """Return the `problems` of an unsaved item, the `blocks` of text that models would receive, and
    `doubts` about its credentials.
    """
    typed = request.POST
    kind, name = typed.get("kind", ""), typed.get("name", "").strip() or "new"
    text = typed.get("text", "").replace("\r\n", "\n")
    problems, files = read_files(typed, kind)
    if kind not in FOLDERS:
        problems = ["Choose a kind first."]
    elif len(text) > LARGEST_FILE:
        problems = ["The text is too long."]
    if problems:
        return JsonResponse({"problems": problems, "blocks": []})
    doubts: Sequence[Problem] = ()
    if kind in DOCUMENTS:
        row = ContentItem.objects.filter(kind=kind, name=name).first() or ContentItem()
        sources = mask_sources(row, kind, name)
        doubts = doubts_of(text, sources, name)
        text, _ = unmasked_text(text, sources)
    item = ContentItem(kind=kind, name=name, text=text, files=files).item
    content = with_item(installed_content(), item)
    return JsonResponse(
        {
            "problems": list(item_problems(content, item)),
            "blocks": [block._asdict() for block in preview(content, item)],
            "doubts": [asdict(doubt) for doubt in doubts],
        }
    )


def read_files(typed: QueryDict, kind: str) -> tuple[list[str], dict[str, str]]:
    """Parse the submitted files of a skill. Return their problems, and their texts by path."""
    try:
        files = FilesField(required=False).clean(
            FilesWidget().value_from_datadict(typed, {}, "files")
        )
    except forms.ValidationError as error:
        return error.messages, {}
    is_wrong = files and kind != "skill"
    return (["Only skills have files."], {}) if is_wrong else ([], files)
