"""What a note says, checked: title, text, tags and fields."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext

from apps.errors import NoteRefused
from apps.notes.limits import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_TITLE,
    LONGEST_VALUE,
    MOST_FIELDS,
    MOST_TAGS,
)
from apps.notes.models import Note, NoteVersion

OWN_NAMES = frozenset({"title", "text", "tags", "fields", "created", "modified"})
"""They are no names of fields: files and tools use them for what every note has."""

_name = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_marks = frozenset("[]|")


@dataclass(frozen=True, slots=True)
class NoteContent:
    title: str
    text: str = ""
    tags: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def key_of(title: str) -> str:
    """What is compared of titles and tags: case, width and runs of spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", storable(title)).casefold().split())


def storable(text: str) -> str:
    """Without what PostgreSQL refuses even to look for: NUL, and half characters, which models write."""
    return text.replace("\0", "").encode(errors="ignore").decode()


def content_of(row: Note | NoteVersion) -> NoteContent:
    return NoteContent(row.title, row.text, tuple(row.tags), dict(row.fields))


def checked(content: NoteContent) -> NoteContent:
    """The content as it is stored. Raises `NoteRefused`."""
    return NoteContent(
        checked_title(content.title),
        checked_text(content.text),
        checked_tags(content.tags),
        checked_fields(content.fields),
    )


def checked_title(title: str, field: str = "title") -> str:
    """On one line, without spaces around. Raises `NoteRefused`."""
    line = " ".join(title.split())
    if not key_of(line):
        raise NoteRefused(field, "it is empty; write what the note is about.")
    if len(line) > LONGEST_TITLE or len(key_of(line)) > 3 * LONGEST_TITLE:
        raise NoteRefused(
            field, f"it has {len(line)} characters; at most {LONGEST_TITLE} are possible."
        )
    if any(letter in _marks or is_control(letter) for letter in line):
        raise NoteRefused(
            field,
            gettext("{line} has one of [ ] | or a control character; leave these out.").format(
                line=repr(line[:60])
            ),
        )
    return line


def checked_text(text: str) -> str:
    """With line ends as in files. Raises `NoteRefused`."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(plain) > LONGEST_TEXT:
        raise NoteRefused(
            "text",
            f"it has {len(plain):,} characters; at most {LONGEST_TEXT:,} are possible. "
            "Part it into several notes.",
        )
    if "\0" in plain or any("\ud800" <= letter <= "\udfff" for letter in plain):
        raise NoteRefused("text", "it has characters that are no text; leave them out.")
    return plain


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each once. Raises `NoteRefused`."""
    found = {key_of(tag): checked_title(tag, "tags") for tag in tags if tag.strip()}
    if len(found) > MOST_TAGS:
        raise NoteRefused("tags", f"there are {len(found)}; at most {MOST_TAGS} are possible.")
    return tuple(found.values())


def checked_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """Raises `NoteRefused`."""
    if len(fields) > MOST_FIELDS:
        raise NoteRefused("fields", f"there are {len(fields)}; at most {MOST_FIELDS} are possible.")
    for name, value in fields.items():
        check_field(name, value)
    return dict(fields)


def check_field(name: str, value: str) -> None:
    """Raises `NoteRefused`."""
    place = f"fields.{name[:LONGEST_NAME]}"
    if not _name.fullmatch(name) or len(name) > LONGEST_NAME:
        raise NoteRefused(
            place,
            f"a name has at most {LONGEST_NAME} letters, digits and . _ - "
            "and begins with a letter; write another one.",
        )
    if name in OWN_NAMES:
        raise NoteRefused(place, "every note has that already; choose another name.")
    if len(value) > LONGEST_VALUE:
        raise NoteRefused(
            place, f"it has {len(value):,} characters; at most {LONGEST_VALUE:,} are possible."
        )
    if any(is_control(letter) and letter not in "\n\t" for letter in value):
        raise NoteRefused(place, "it has control characters; leave them out.")


def is_control(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cs")
