"""The page with a note's versions and their differences."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.catalog.history.differences import Line, line_difference
from apps.chat.notes.access import own_note
from apps.chat.notes.form import written_fields
from apps.chat.notes.pages import agent_name, author_name
from apps.integers import read_integer
from apps.notes.content import note_content
from apps.notes.models import Note, NoteVersion

SHOWN = 20
"""The number of versions that one page of the history shows."""


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version of a note, and its differences from the previous version."""

    row: NoteVersion
    author: str
    agent: str
    """The agent's name, or "" if a user wrote the version."""
    lines: list[Line]


@login_required
@require_safe
@never_cache
def history(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the newest versions of a note, or the versions with numbers less than the query
    parameter `before`.
    """
    space, note = own_note(request, pk)
    versions = read(note, request.GET.get("before", ""))
    shown = [shown_version(row, below) for row, below in pairs(versions)]
    context = {
        "space": space,
        "note": note,
        "versions": shown[:SHOWN],
        "more": shown[SHOWN - 1].row.number if len(versions) > SHOWN else None,
    }
    return render(request, "chat/note_history.html", context)


def read(note: Note, before: str) -> list[NoteVersion]:
    """Return the note's newest versions, or the versions with numbers less than `before`. One
    version more than `SHOWN` is read, because the last shown version is compared with it.
    """
    rows = note.versions.select_related("user").order_by("-number")
    if (number := read_integer(before)) is not None:
        rows = rows.filter(number__lt=number)
    return list(rows[: SHOWN + 1])


def pairs(versions: list[NoteVersion]) -> list[tuple[NoteVersion, NoteVersion | None]]:
    return list(zip(versions, [*versions[1:], None], strict=True))


def shown_version(row: NoteVersion, below: NoteVersion | None) -> ShownVersion:
    before = lines_of(below) if below is not None else []
    lines = line_difference(before, lines_of(row))
    return ShownVersion(row, author_name(row), agent_name(row), lines)


def lines_of(row: NoteVersion) -> list[str]:
    """Return the version's title, tags, fields and text as lines."""
    content = note_content(row)
    facts = [
        gettext("Title: {title}").format(title=content.title),
        *([gettext("Tags: {names}").format(names=", ".join(content.tags))] if content.tags else ()),
        *written_fields(content.fields).splitlines(),
    ]
    return [*facts, "", *content.text.split("\n")]
