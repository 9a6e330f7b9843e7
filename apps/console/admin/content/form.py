"""Defines the form for a predefined item. It rejects items that cannot be used."""

import json
from collections.abc import Sequence
from typing import Any, cast

from django import forms

from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import LARGEST_FILE, ItemKind, LayerItem
from apps.catalog.content.models import ContentItem
from apps.catalog.content.review import item_problems, with_item
from apps.catalog.credentials.masking import (
    masked_text,
    parse_or_none,
    restore_credentials,
    unmasked_text,
)
from apps.catalog.credentials.review import review_credentials
from apps.catalog.extraction import found_credentials
from apps.console.admin.content.skill_files import FilesField, with_line_feeds
from apps.console.admin.rows.document_form import DocumentForm
from apps.console.admin.theme import LowTextarea
from apps.manifest.markdown.skill_files import MOST_BYTES, MOST_FILES, TEXT_ENDINGS
from apps.manifest.problems import Problem

MOST_MISTAKES = 20
DOCUMENTS = ("tool", "toolset")
"""Predefined items of these kinds are JSON documents and may contain credentials."""

TEXTS = {
    "prompt": ("Text", "Markdown. {today}, {locale} and PROMPT_VARIABLES are replaced."),
    "tool": ("Text", "A JSON object: one tool in the format of a manifest."),
    "toolset": ("Text", "A JSON object: one toolset in the format of a manifest."),
    "skill": (
        "SKILL.md",
        "Between two lines of hyphens: the name of the item, and the description by which models "
        "decide whether to load it. Below: the instructions, in Markdown.",
    ),
    "place": (
        "Text",
        "Between two lines of hyphens: the title and, under tools, the names of the toolsets and "
        "tools that remain available (all, if omitted). Below: the instructions for the model, in "
        "Markdown.",
    ),
    "agent": (
        "Text",
        "Between two lines of hyphens: the title, the description by which models choose it, and, optionally, model, toolsets, brings, max-iterations, timeout-seconds and may-spawn. Below: "
        "its instructions, in Markdown.",
    ),
}
"""The label and the help text of the field `text`, by kind of item."""


class TypedText(str):
    __slots__ = ()


class TextField(forms.CharField):
    """A form field for the text of a predefined item.

    If `is_document` is True, the text is JSON. The field then masks stored credentials, and
    replaces the masks in the submitted text with the credentials in `sources`.
    """

    widget = LowTextarea(
        {"rows": 24, "spellcheck": "false", "autocapitalize": "off", "class": "content-text"}
    )
    is_document = False
    sources: Sequence[str] = ()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)

    @property
    def documents(self) -> list[Any]:
        return [parse_or_none(text) for text in self.sources]

    def bound_data(self, data: Any, initial: Any) -> Any:
        return data if data is None else TypedText(data)

    def prepare_value(self, value: Any) -> Any:
        is_shown = isinstance(value, str) and not isinstance(value, TypedText)
        return masked_text(value) if self.is_document and is_shown else value

    def to_python(self, value: Any) -> str:
        text = with_line_feeds(str(super().to_python(value) or ""))
        if not self.is_document:
            return text
        found, problems = unmasked_text(text, self.sources)
        if problems:
            raise forms.ValidationError([f"{p.path}: {p.message}." for p in problems])
        return found


class ContentForm(DocumentForm[ContentItem]):
    text = TextField(
        help_text="Markdown for a prompt, host page, agent or SKILL.md; a JSON object for a tool or "
        "toolset."
    )
    files = FilesField(  # type: ignore[assignment]  # Django takes fields out of the class
        required=False,
        label="Files next to SKILL.md",
        help_text=f"Texts of a skill that are too long to be read every time. The limits are {MOST_FILES} "
        f"files, {MOST_BYTES:,} bytes per file, and {LARGEST_FILE:,} bytes with SKILL.md. SKILL.md must "
        "explain when to read each file. Allowed file extensions: "
        + ", ".join(sorted(TEXT_ENDINGS))
        + ".",
    )
    document_field = "text"

    class Meta:
        model = ContentItem
        fields = ()  # Set by the admin.

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "text" in self.fields and self.kind in TEXTS:
            self.fields["text"].label, self.fields["text"].help_text = TEXTS[self.kind]
        field: Any = self.fields.get("text")
        if isinstance(field, TextField) and self.kind in DOCUMENTS:
            field.is_document, field.sources = (
                True,
                mask_sources(self.instance, self.kind, self.item),
            )

    def current_value(self, name: str) -> str:
        """Return a field's stored value. If it is empty, return the submitted value, or else the
        initial value, or "".
        """
        value = getattr(self.instance, name) or self.data.get(name) or self.initial.get(name)
        return str(value or "")

    @property
    def item(self) -> str:
        return self.current_value("name")

    @property
    def kind(self) -> str:
        return self.current_value("kind")

    @property
    def doubts(self) -> Sequence[Problem]:
        """Warnings about possible credentials in the text that the form shows."""
        field: Any = self.fields.get("text")
        if not isinstance(field, TextField) or not field.is_document:
            return ()
        return doubts_of(str(self["text"].value() or ""), field.sources, self.item)

    @property
    def document(self) -> Any:
        return parse_or_none(self.instance.text) if self.kind in DOCUMENTS else None

    @document.setter
    def document(self, document: Any) -> None:
        self.instance.text = json.dumps(document, indent=2, ensure_ascii=False)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        # The whole item is sent in one request, and the server limits its size.
        texts = (self.cleaned_data.get("text", ""), *self.cleaned_data.get("files", {}).values())
        size = sum(len(text.encode(errors="replace")) for text in texts)
        if size > LARGEST_FILE:
            wrong = "files" if self.cleaned_data.get("files") else "text"
            message = f"The item is {size:,} bytes in total; the limit is {LARGEST_FILE:,}."
            self.add_error(wrong, message)
        return cleaned

    def check_document(self) -> None:
        if "text" not in self.fields or self.errors.keys() - {"files"}:
            return  # Errors in files do not hide errors in the text.
        item = self.instance.item
        for problem in list(item_problems(with_item(installed_content(), item), item))[
            :MOST_MISTAKES
        ]:
            self.add_error("text", problem)
        if self.kind in DOCUMENTS and not self.errors:
            for missing in review_credentials(item.value)[0]:
                self.add_error("text", f"{missing.path}: {missing.message}")
        super().check_document()


def doubts_of(text: str, sources: Sequence[str], item: str) -> Sequence[Problem]:
    """Return warnings about possible credentials in the submitted text, or () if it is not JSON."""
    document = parse_or_none(text)
    if document is None:
        return ()
    typed = restore_credentials(document, map(parse_or_none, sources)).document
    return review_credentials(typed, found_credentials(typed, item))[1]


def stack_of(kind: str, name: str) -> tuple[LayerItem, ...]:
    """Return the definitions of a predefined item, in the order of the layers. The last one takes
    effect.
    """
    return installed_content().stacks.get(cast(ItemKind, kind), {}).get(name, ())


def mask_sources(row: ContentItem, kind: str, name: str) -> list[str]:
    """Return the texts whose credentials may replace masks in the submitted text: the stored text
    and the item's definitions in other layers.
    """
    texts = (row.text, *(item.text for item in reversed(stack_of(kind, name))))
    return [text for text in texts if text]
