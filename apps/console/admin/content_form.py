"""The form of a predefined item, which refuses an item that could not be used."""

import json
from collections.abc import Sequence
from typing import Any, cast

from apps.catalog.content.installed import installed
from apps.catalog.content.items import LARGEST_FILE, Item, ItemKind
from apps.catalog.content.models import ContentItem
from apps.catalog.content.review import item_problems, with_item
from apps.catalog.credentials import review_credentials
from apps.catalog.extraction import found_credentials
from apps.catalog.masking import put_back, readable
from apps.console.admin.content_text import TextField
from apps.console.admin.document_form import DocumentForm
from apps.console.admin.skill_files import FilesField
from apps.manifest.problems import Problem
from apps.manifest.skill_files import MOST_BYTES, MOST_FILES, TEXT_ENDINGS

MOST_MISTAKES = 20
DOCUMENTS = ("tool", "toolset")
"""Kinds whose text is JSON and may hold credentials."""

TEXTS = {
    "prompt": ("Text", "Markdown. {today} and {locale} are filled in, and PROMPT_VARIABLES."),
    "tool": ("Text", "A JSON object: one tool, as it stands in a manifest."),
    "toolset": ("Text", "A JSON object: one toolset, as it stands in a manifest."),
    "skill": (
        "SKILL.md",
        "Between two lines of hyphens the name (that of the item) and the description, by which "
        "models decide whether to read it; below them the instructions, in Markdown.",
    ),
    "place": (
        "Text",
        "Between two lines of hyphens the title, and under tools the names of the toolsets and "
        "tools that are left there (without it, all); below them what the model is told, in "
        "Markdown.",
    ),
    "agent": (
        "Text",
        "Between two lines of hyphens the title, the description, by which models choose it, and if "
        "you like model, toolsets, brings, max-iterations, timeout-seconds and may-spawn; below them "
        "what it is told, in Markdown.",
    ),
}
"""Label and help of the text, by kind."""


class ContentForm(DocumentForm[ContentItem]):
    text = TextField(help_text=ContentItem._meta.get_field("text").help_text)
    files = FilesField(  # type: ignore[assignment]  # Django takes fields out of the class
        required=False,
        label="Files beside SKILL.md",
        help_text=f"Of a skill, for what is too long to be read every time: at most {MOST_FILES} "
        f"texts of {MOST_BYTES:,} bytes, and {LARGEST_FILE:,} with SKILL.md. SKILL.md has to say "
        "when to read which. Their names end with " + ", ".join(sorted(TEXT_ENDINGS)) + ".",
    )
    document_field = "text"

    class Meta:
        model = ContentItem
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "text" in self.fields and self.kind in TEXTS:
            self.fields["text"].label, self.fields["text"].help_text = TEXTS[self.kind]
        field: Any = self.fields.get("text")
        if isinstance(field, TextField) and self.kind in DOCUMENTS:
            field.is_document, field.sources = True, sources_of(self.instance, self.kind, self.item)

    def known(self, name: str) -> str:
        """The value that the row has or will have, "" until it is chosen."""
        value = getattr(self.instance, name) or self.data.get(name) or self.initial.get(name)
        return str(value or "")

    @property
    def item(self) -> str:
        return self.known("name")

    @property
    def kind(self) -> str:
        return self.known("kind")

    @property
    def doubts(self) -> Sequence[Problem]:
        """Warnings about the credentials in the text that is shown."""
        field: Any = self.fields.get("text")
        if not isinstance(field, TextField) or not field.is_document:
            return ()
        return doubts_of(str(self["text"].value() or ""), field.sources, self.item)

    @property
    def document(self) -> Any:
        return readable(self.instance.text) if self.kind in DOCUMENTS else None

    @document.setter
    def document(self, document: Any) -> None:
        self.instance.text = json.dumps(document, indent=2, ensure_ascii=False)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        # The whole item comes in one request, and the server limits its size.
        texts = (self.cleaned_data.get("text", ""), *self.cleaned_data.get("files", {}).values())
        size = sum(len(text.encode(errors="replace")) for text in texts)
        if size > LARGEST_FILE:
            wrong = "files" if self.cleaned_data.get("files") else "text"
            message = f"It has {size:,} bytes altogether; at most {LARGEST_FILE:,} are possible."
            self.add_error(wrong, message)
        return cleaned

    def check_document(self) -> None:
        if "text" not in self.fields or self.errors.keys() - {"files"}:
            return  # mistakes in files do not hide those of the text
        item = self.instance.item
        for problem in list(item_problems(with_item(installed(), item), item))[:MOST_MISTAKES]:
            self.add_error("text", problem)
        if self.kind in DOCUMENTS and not self.errors:
            for missing in review_credentials(item.value)[0]:
                self.add_error("text", f"{missing.path}: {missing.message}")
        super().check_document()


def doubts_of(text: str, sources: Sequence[str], item: str) -> Sequence[Problem]:
    """Warnings about the credentials of a typed document; none if it is no JSON."""
    document = readable(text)
    if document is None:
        return ()
    typed = put_back(document, map(readable, sources)).document
    return review_credentials(typed, found_credentials(typed, item))[1]


def stack_of(kind: str, name: str) -> tuple[Item, ...]:
    """The item in all its layers, the one in force last."""
    return installed().stacks.get(cast(ItemKind, kind), {}).get(name, ())


def sources_of(row: ContentItem, kind: str, name: str) -> list[str]:
    """The texts with the credentials that a typed one masks: of the row and the layers below."""
    texts = (row.text, *(item.text for item in reversed(stack_of(kind, name))))
    return [text for text in texts if text]
