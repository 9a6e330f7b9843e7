"""Finds errors in a note: broken links, unclosed code, missing attachments, invalid front matter."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from apps.manifest.markdown.front_matter import FrontMatterInvalid, read_front_matter
from apps.notes.attachments import FOLDER, paths_in
from apps.notes.content import title_key
from apps.notes.links import links_in
from apps.notes.models import Note
from apps.notes.note_lists import existing
from apps.workspace.local.files.paths import split_path
from apps.workspace.local.models import StoredFile

MOST = 100

_fence = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_unclosed = re.compile(r"\[\[(?![^\[\]\n]*\]\])")


@dataclass(frozen=True, slots=True)
class NoteProblem:
    line: int
    """The line number, counted from 1, or 0 if the error concerns the whole note."""
    text: str


def check_note(note: Note) -> list[NoteProblem]:
    found = [
        *front_matter_problems(note.text),
        *fence_problems(note.text),
        *unclosed_links(note.text),
        *broken_links(note),
        *missing_files(note),
    ]
    return sorted(found, key=lambda one: one.line)[:MOST]


def front_matter_problems(text: str) -> Iterator[NoteProblem]:
    """Yield the errors in the front matter with which a note's text begins."""
    if not re.match(r"-{3,}[ \t]*\n\s*[A-Za-z][\w-]*:", text):
        return
    try:
        read_front_matter(text)
    except FrontMatterInvalid as error:
        yield from (
            NoteProblem(1, gettext("The front matter {message}").format(message=one.message))
            for one in error.problems
        )


def fence_problems(text: str) -> Iterator[NoteProblem]:
    begun: tuple[int, str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        found = _fence.match(line)
        if found is None:
            continue
        mark, rest = found[1], found[2]
        if begun is None:
            begun = None if mark[0] == "`" and "`" in rest else (number, mark)
        elif mark.startswith(begun[1]) and not rest.strip():
            begun = None
    if begun is not None:
        yield NoteProblem(
            begun[0],
            gettext("This code block isn’t closed. Add {begun} on a line after it.").format(
                begun=begun[1]
            ),
        )


def unclosed_links(text: str) -> Iterator[NoteProblem]:
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        is_code ^= _fence.match(line) is not None
        if not is_code and _unclosed.search(re.sub(r"`[^`]*`", "", line)):
            yield NoteProblem(number, gettext("A link that begins with [[ must end with ]]."))


def broken_links(note: Note) -> Iterator[NoteProblem]:
    titles = list(dict.fromkeys(link.title for link in links_in(note.text)))
    there = existing(note.owner, titles)
    for title in titles:
        if title_key(title) not in there:
            yield NoteProblem(
                line_of(note.text, title),
                gettext("This note links to {title}, but no note has this title.").format(
                    title=repr(title)
                ),
            )


def missing_files(note: Note) -> Iterator[NoteProblem]:
    paths = paths_in(note.owner, note.text)
    if not paths:
        return
    rows = StoredFile.objects.filter(bucket=note.owner, name__startswith=FOLDER)
    there = {(note.owner, name) for name in rows.values_list("name", flat=True)}
    for path in paths:
        if split_path(path) not in there:
            yield NoteProblem(
                line_of(note.text, path),
                gettext("The file {path} doesn’t exist.").format(path=path),
            )


def line_of(text: str, part: str) -> int:
    position = text.find(part)
    return text.count("\n", 0, position) + 1 if position >= 0 else 0
