"""Validates a note's content: title, text, tags and fields."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext

from apps.notes.errors import NoteRefused
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
"""Names that a field cannot have, because files and tools use them for the data of every note."""

_name = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_marks = frozenset("[]|")


@dataclass(frozen=True, slots=True)
class NoteContent:
    title: str
    text: str = ""
    tags: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def title_key(title: str) -> str:
    """Return a title or tag normalized for comparisons. Differences in case, character width and
    extra spaces are removed.
    """
    return " ".join(unicodedata.normalize("NFKC", storable_text(title)).casefold().split())


def storable_text(text: str) -> str:
    """Return the text without the characters that PostgreSQL rejects, even in a search: NUL, and
    unpaired surrogates, which models may write.
    """
    return text.replace("\0", "").encode(errors="ignore").decode()


def note_content(row: Note | NoteVersion) -> NoteContent:
    return NoteContent(row.title, row.text, tuple(row.tags), dict(row.fields))


def check_content(content: NoteContent) -> NoteContent:
    """Return the content in its stored form. Raises `NoteRefused` if any part of it is invalid."""
    return NoteContent(
        checked_title(content.title),
        checked_text(content.text),
        checked_tags(content.tags),
        checked_fields(content.fields),
    )


def checked_title(title: str, field: str = "title") -> str:
    """Return the title on one line. Raises `NoteRefused` for `field` if the title is empty, too
    long or invalid.
    """
    line = " ".join(title.split())
    if not title_key(line):
        raise NoteRefused(field, gettext("it is empty; enter a title."))
    if len(line) > LONGEST_TITLE or len(title_key(line)) > 3 * LONGEST_TITLE:
        raise NoteRefused(field, too_long(len(line), LONGEST_TITLE))
    if any(letter in _marks or is_control(letter) for letter in line):
        raise NoteRefused(
            field,
            gettext(
                "{line} contains [, ], | or a control character. Remove these characters."
            ).format(line=repr(line[:60])),
        )
    return line


def checked_text(text: str) -> str:
    """Return the text with line feeds as line endings. Raises `NoteRefused` if it is too long or
    contains invalid characters.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(plain) > LONGEST_TEXT:
        raise NoteRefused(
            "text",
            gettext(
                "it has {count} characters; the limit is {limit}. Split it into several notes."
            ).format(count=f"{len(plain):,}", limit=f"{LONGEST_TEXT:,}"),
        )
    if "\0" in plain or any("\ud800" <= letter <= "\udfff" for letter in plain):
        raise NoteRefused("text", gettext("it contains invalid characters; remove them."))
    return plain


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags without empty tags or duplicates. Raises `NoteRefused` if there are too many
    or a tag is invalid.
    """
    found = {title_key(tag): checked_title(tag, "tags") for tag in tags if tag.strip()}
    if len(found) > MOST_TAGS:
        raise NoteRefused(
            "tags",
            gettext("The note has {count} tags; the limit is {limit}. Remove some tags.").format(
                count=len(found), limit=MOST_TAGS
            ),
        )
    return tuple(found.values())


def checked_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the fields. Raises `NoteRefused` if one is invalid or there are too many."""
    if len(fields) > MOST_FIELDS:
        raise NoteRefused(
            "fields",
            gettext(
                "The note has {count} fields; the limit is {limit}. Remove some fields."
            ).format(count=len(fields), limit=MOST_FIELDS),
        )
    for name, value in fields.items():
        check_field(name, value)
    return dict(fields)


def check_field(name: str, value: str) -> None:
    """Raise `NoteRefused` if a field's name or value is invalid."""
    place = f"fields.{name[:LONGEST_NAME]}"
    if not _name.fullmatch(name) or len(name) > LONGEST_NAME:
        raise NoteRefused(
            place,
            gettext(
                "names must begin with a letter and contain only letters, digits and . _ - (up to {limit} characters). Choose another name."
            ).format(limit=LONGEST_NAME),
        )
    if name in OWN_NAMES:
        raise NoteRefused(place, gettext("this name is reserved; choose another name."))
    if len(value) > LONGEST_VALUE:
        raise NoteRefused(place, too_long(len(value), LONGEST_VALUE))
    if any(is_control(letter) and letter not in "\n\t" for letter in value):
        raise NoteRefused(place, gettext("it contains control characters; remove them."))


def too_long(count: int, limit: int) -> str:
    return gettext("it has {count} characters; the limit is {limit}.").format(
        count=f"{count:,}", limit=f"{limit:,}"
    )


def is_control(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cs")
