"""Defines form fields for lists of texts."""

import json
from typing import Any

from django import forms

from apps.console.admin.theme import LowTextarea
from apps.workspace.local.models import is_argument


class LinesField(forms.CharField):
    """A form field for a list of texts, one per line."""

    widget = LowTextarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return self.write(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return self.read(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))

    def write(self, lines: list[Any]) -> str:
        return "\n".join(map(str, lines))

    def read(self, text: str) -> list[str]:
        return [line.strip() for line in text.splitlines() if line.strip()]


class ArgumentsField(LinesField):
    """A form field for a program's arguments, one per line. Spaces are preserved.

    Users can enter a JSON list if an argument is empty or has several lines.
    """

    def write(self, lines: list[Any]) -> str:
        text = super().write(lines)
        return text if self.read(text) == lines else json.dumps(lines, ensure_ascii=False)

    def read(self, text: str) -> list[str]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and all(is_argument(one) for one in found):
            return found
        return [line for line in text.splitlines() if line.strip()]
