"""Implements the tools that read notes. They raise `NoteRefused` or `ToolError`."""

from itertools import islice
from typing import Any

from apps.capabilities.notes.run_notes import RunNotes, run_query
from apps.capabilities.notes.text import HEADING, note_lines, note_texts, quote_line
from apps.errors import InvalidParameter
from apps.notes import note_lists, note_vectors
from apps.notes.checks import NoteProblem, check_note
from apps.notes.limits import MOST_NOTES
from apps.notes.models import Note
from apps.notes.store import find_note

MOST_HITS = 50
MOST_LISTED = 200
UPDATED_AT_ONCE = 10.0
"""A search first embeds changed notes, for up to this many seconds."""
UPDATE_SECONDS = 60.0
NONE = "No note was found."


async def search(own: RunNotes, given: dict[str, Any]) -> str:
    by = search_by_meaning if given["searchType"] == "vector" else search_by_filter
    return await by(own, own.owner(given), given, between(given["limit"], 1, MOST_HITS))


async def search_by_filter(own: RunNotes, owner: str, given: dict[str, Any], most: int) -> str:
    notes, count = await run_query(first_matching, owner, given.get("filter") or "", most)
    if not notes:
        return NONE
    for note in notes:
        own.has_read(note)
    return f"{found_line(len(notes), count)} {note_texts(notes)}"


def first_matching(owner: str, filter: str, most: int) -> tuple[list[Note], int]:
    rows = note_lists.matching(owner, filter)
    return list(rows[:most]), rows.count()


def found_line(shown: int, count: int) -> str:
    more = (
        f"; these are the first {shown}. Narrow the filter to find others" if shown < count else ""
    )
    return f"{count} found{more}."


async def search_by_meaning(own: RunNotes, owner: str, given: dict[str, Any], most: int) -> str:
    """Embed changed notes for a limited time, and then run a semantic search."""
    query = (given.get("query") or "").strip()
    if not query:
        raise InvalidParameter("query", "it is empty. Write the subject of the notes.")
    embedder = await own.embedder()
    updated = await note_vectors.update(owner, embedder, seconds=UPDATED_AT_ONCE)
    threshold = given["threshold"]
    hits = await note_vectors.search(owner, embedder, query, most=most, threshold=threshold)
    missing = f" {updated.left} notes were not compared. Update the embeddings to include them." * (
        updated.left > 0
    )
    if not hits:
        return f"No note has a similarity of {threshold:g} or more.{missing}"
    for hit in hits:
        own.has_read(hit.note)
    texts = note_texts([hit.note for hit in hits], [hit.score for hit in hits])
    return f"{len(hits)} found.{missing} {texts}"


async def update_embeddings(own: RunNotes, given: dict[str, Any]) -> str:
    owner, embedder = own.owner(given), await own.embedder()
    done = await note_vectors.update(
        owner, embedder, seconds=UPDATE_SECONDS, is_forced=given["forceUpdate"]
    )
    # Another call with `forceUpdate` would start again from the first note.
    more = " Call it again without forceUpdate for the others." if done.left else ""
    return f"{done.done} notes were embedded, {done.left} are left.{more}"


async def backlinks(own: RunNotes, given: dict[str, Any]) -> str:
    most = between(given["limit"], 1, MOST_LISTED)
    notes = await run_query(first_backlinks, own.owner(given), given["title"], most)
    if not notes:
        return f"No note has a link to {quote_line(given['title'])}."
    return f"{HEADING}\n\n{note_lines(notes, ('title', 'tags', 'modified'))}"


def first_backlinks(owner: str, title: str, most: int) -> list[Note]:
    return list(note_lists.backlinks(owner, title)[:most])


async def contents(own: RunNotes, given: dict[str, Any]) -> str:
    root = given["rootTitle"]
    entries = await run_query(note_lists.contents, own.owner(given), root, given["depth"])
    if not entries:
        return f"No note has the tag {quote_line(root)}."
    lines = [
        f"{'  ' * (one.depth - 1)}- {quote_line(one.title)}{' (see above)' * one.is_repeated}"
        for one in entries
    ]
    return "\n".join((HEADING, "", *lines))


async def recent(own: RunNotes, given: dict[str, Any]) -> str:
    most = between(given["limit"], 1, MOST_LISTED)
    notes = await run_query(first_recent, own.owner(given), given.get("daysAgo"), most)
    return f"{HEADING}\n\n{note_lines(notes, ('title', 'tags', 'modified'))}" if notes else NONE


def first_recent(owner: str, days: float | None, most: int) -> list[Note]:
    return list(islice(note_lists.recent(owner, days), most))


async def list_notes(own: RunNotes, given: dict[str, Any]) -> str:
    most, offset = between(given["limit"], 1, MOST_LISTED), between(given["offset"], 0, MOST_NOTES)
    names = [
        name for part in given["fields"].split(",") if (name := part.strip()) and name != "text"
    ]
    notes, count = await run_query(
        page_of, own.owner(given), given.get("filter") or "", offset, offset + most
    )
    end = offset + len(notes)
    if not notes:
        return f"{count} notes, but none from {offset} on. Use a smaller offset."
    more = f" Continue with offset {end}." if end < count else " That is the end."
    head = f"{count} notes. These are {offset} to {end - 1}, by title.{more}"
    return f"{head} {HEADING}\n\n{note_lines(notes, names or ('title',))}"


def page_of(owner: str, filter: str, start: int, end: int) -> tuple[list[Note], int]:
    rows = note_lists.list_notes(owner, filter)
    return list(rows[start:end]), rows.count()


async def errors(own: RunNotes, given: dict[str, Any]) -> str:
    found = await run_query(errors_of, own.owner(given), given["title"])
    if not found:
        return "This note has no problems."
    lines = [f"- {f'line {one.line}: ' * (one.line > 0)}{quote_line(one.text)}" for one in found]
    return "\n".join(("Problems of this note:", "", *lines))


def errors_of(owner: str, title: str) -> list[NoteProblem]:
    return check_note(find_note(owner, title))


def between(number: int, least: int, most: int) -> int:
    return min(max(number, least), most)
