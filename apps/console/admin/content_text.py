"""The form field for the text of a predefined item, which may be JSON with credentials."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.catalog.masking import masked_text, readable, unmasked_text
from apps.console.admin.skill_files import with_line_feeds
from apps.console.admin.theme import LowTextarea


class TypedText(str):
    __slots__ = ()


class TextField(forms.CharField):
    """`is_document`: the text is JSON; a stored one is shown with its credentials masked, and
    masks in a typed one stand for the credentials in `sources`.
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
        return [readable(text) for text in self.sources]

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
