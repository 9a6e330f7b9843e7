"""The form in which a user writes a note."""

import re
from collections.abc import Mapping
from typing import Any, Self

from django import forms
from django.utils.translation import gettext, gettext_lazy

from apps.notes.content import NoteContent, note_content
from apps.notes.errors import NoteRefused
from apps.notes.limits import LONGEST_TEXT, LONGEST_TITLE
from apps.notes.models import Note
from apps.runs.explanations import error_text

LONGEST_TAGS = 12_000
LONGEST_FIELDS = 150_000

_line = re.compile(r"\s*([^\s=:]+)\s*[=:]\s?(.*)")


class NoteForm(forms.Form):
    """A note's content. `number` is the version that the user is editing, or 0 for a new note."""

    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=LONGEST_TITLE,
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    text = forms.CharField(
        label=gettext_lazy("Text"),
        required=False,
        strip=False,
        max_length=LONGEST_TEXT * 2,
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto", "spellcheck": "true"}),
        help_text=gettext_lazy("You can use Markdown. To link to another note, write [[Title]]."),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=LONGEST_TAGS,
        help_text=gettext_lazy("Separate tags with commas."),
    )
    fields_text = forms.CharField(
        required=False,
        label=gettext_lazy("Fields"),
        max_length=LONGEST_FIELDS,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=gettext_lazy("Enter one field per line, such as status = open."),
    )
    file = forms.FileField(
        required=False,
        label=gettext_lazy("Attach a file"),
        help_text=gettext_lazy(
            "The file is saved with your files and linked at the end of the text."
        ),
    )
    number = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    @classmethod
    def of(cls, note: Note, data: Any = None, files: Any = None) -> Self:
        content = note_content(note)
        initial = {
            "title": content.title,
            "text": content.text,
            "tags": ", ".join(content.tags),
            "fields_text": written_fields(content.fields),
            "number": note.number,
        }
        return cls(data, files, initial=initial, label_suffix="")

    def content(self) -> NoteContent:
        """Return the note's content from the form. Raises `NoteRefused` if a field is invalid."""
        given = self.cleaned_data
        tags = tuple(part.strip() for part in given["tags"].split(",") if part.strip())
        return NoteContent(given["title"], given["text"], tags, read_fields(given["fields_text"]))

    def refuse(self, error: NoteRefused) -> None:
        field, _, rest = error.field.partition(".")
        place = {"fields": "fields_text"}.get(field, field)
        text = f"{rest}: {error_text(error)}" if rest else error_text(error)
        self.add_error(place if place in self.fields else None, text[:1].upper() + text[1:])


def written_fields(fields: Mapping[str, str]) -> str:
    return "\n".join(f"{name} = {escape_value(value)}" for name, value in fields.items())


def escape_value(value: str) -> str:
    """Return the value of a note's field with backslashes and line breaks escaped, so that it fits
    on one line.
    """
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def read_fields(written: str) -> dict[str, str]:
    """Parse lines such as `name = value` or `name: value`. Raises `NoteRefused` if a line is
    invalid or a name occurs twice.
    """
    found: dict[str, str] = {}
    for line in written.splitlines():
        if not line.strip():
            continue
        parts = _line.fullmatch(line)
        if parts is None:
            raise NoteRefused(
                "fields",
                gettext("{line} isn’t a valid field. Write each field as name = value.").format(
                    line=repr(line[:60])
                ),
            )
        if parts[1] in found:
            raise NoteRefused(
                f"fields.{parts[1]}", gettext("this field appears twice; remove one of the lines.")
            )
        found[parts[1]] = re.sub(
            r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], parts[2].rstrip()
        )
    return found
