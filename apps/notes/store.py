"""Changes notes. Each change is one transaction that writes the note, a new version, and the search
data.

A change applies to the version that its author saw. If a newer version exists, `NoteChanged` is
raised and nothing is written, so that no concurrent change is lost. All functions raise
`NoteRefused` if the content is invalid.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.notes.content import NoteContent, check_content, note_content, title_key
from apps.notes.errors import NoteChanged, NoteMissing, NoteRefused
from apps.notes.limits import MOST_NOTES, MOST_VERSIONS
from apps.notes.links import linked_keys, with_links_to
from apps.notes.models import Note, NoteLink, NoteTag, NoteVersion

ATTEMPTS = 5
AT_ONCE = 500
"""The maximum number of notes that one statement creates."""
Action = NoteVersion.Action


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a change: the user with `user_id`, or an agent on the user's behalf."""

    user_id: int | None
    is_agent: bool = False
    application: str = ""
    """The agent's slug."""
    conversation: str = ""
    """The ID of the agent's conversation."""
    is_untrusted: bool = False
    """True if the agent had read untrusted content."""


def notes_of(owner: str) -> QuerySet[Note]:
    """Return the owner's notes that are not deleted."""
    return Note.objects.filter(owner=owner, deleted_at=None)


def find_note(owner: str, title: str) -> Note:
    """Return the owner's note with this title. Raises `NoteMissing` if there is no such note."""
    found = notes_of(owner).filter(key=title_key(title)).first()
    if found is None:
        raise NoteMissing("title", f"there is no note {title[:200]!r}.")
    return found


@transaction.atomic
def create(
    owner: str,
    content: NoteContent,
    author: Author,
    *,
    action: str = Action.CREATED,
    created_at: datetime | None = None,
    modified_at: datetime | None = None,
) -> Note:
    """Create a note and its first version. Both times default to the current time."""
    content, now = check_content(content), timezone.now()
    if notes_of(owner).count() >= MOST_NOTES:
        raise NoteRefused(
            "",
            gettext("You’ve reached the limit of {limit} notes. Delete some first.").format(
                limit=f"{MOST_NOTES:,}"
            ),
        )
    note = Note(
        owner=owner,
        created_at=created_at or now,
        modified_at=modified_at or now,
        **columns(content, author),
    )
    with unique(content.title):
        note.save(force_insert=True)
    record(note, author, action, now)
    return note


@dataclass(frozen=True, slots=True)
class NewNote:
    """A validated note that is not stored yet."""

    content: NoteContent
    created_at: datetime
    modified_at: datetime


@transaction.atomic
def create_all(owner: str, new: Sequence[NewNote], author: Author, action: str) -> None:
    """Create several notes with their first versions. The titles must differ."""
    now = timezone.now()
    if notes_of(owner).count() + len(new) > MOST_NOTES:
        raise NoteRefused(
            "",
            gettext("You’ve reached the limit of {limit} notes. Delete some first.").format(
                limit=f"{MOST_NOTES:,}"
            ),
        )
    for batch in batch_notes(new, AT_ONCE):
        rows = [
            Note(
                owner=owner,
                created_at=one.created_at,
                modified_at=one.modified_at,
                **columns(one.content, author),
            )
            for one in batch
        ]
        try:
            with transaction.atomic():
                Note.objects.bulk_create(rows)
        except IntegrityError as error:
            raise NoteRefused(
                "title", gettext("one of the titles was used in the meantime; try again.")
            ) from error
        NoteVersion.objects.bulk_create(version_of(row, author, action, now) for row in rows)
        index(rows)


def batch_notes(rows: Sequence[NewNote], size: int) -> Iterator[Sequence[NewNote]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def change(
    note: Note,
    content: NoteContent,
    author: Author,
    *,
    action: str = Action.CHANGED,
    modified_at: datetime | None = None,
) -> Note:
    """Change a note's content. Write a version unless the content is the same."""
    content = check_content(content)
    if content == note_content(note) and note.deleted_at is None:
        return note
    return write(note, content, author, action, modified_at=modified_at)


def change_newest(
    owner: str, title: str, edit: Callable[[NoteContent], NoteContent], author: Author
) -> Note:
    """Apply `edit` to the newest version of the note with this title. If the note changes in the
    meantime, apply `edit` again.
    """
    for _ in range(ATTEMPTS - 1):
        note = find_note(owner, title)
        try:
            return change(note, edit(note_content(note)), author)
        except NoteChanged:
            continue
    note = find_note(owner, title)
    return change(note, edit(note_content(note)), author)


@transaction.atomic
def rename(note: Note, title: str, author: Author) -> tuple[Note, int]:
    """Rename a note and update links to it. Return the note, and the number of other notes whose
    links changed.
    """
    old = note.title
    content = replace(note_content(note), title=title, text=with_links_to(note.text, old, title))
    note = change(note, content, author, action=Action.RENAMED)
    return note, update_links(note, old, author)


def update_links(note: Note, old: str, author: Author) -> int:
    """Update links to the note's old title. Return the number of other notes whose links changed."""
    others = notes_of(note.owner).filter(link_rows__key=title_key(old)).exclude(pk=note.pk)
    changed = 0
    for other in others.select_for_update(of=("self",)):
        text = with_links_to(other.text, old, note.title)
        if text != other.text:
            write(other, replace(note_content(other), text=text), author, Action.RELINKED)
            changed += 1
    return changed


def delete(note: Note, author: Author) -> Note:
    """Mark the note as deleted, in a new version. `restore` can undo this."""
    return write(note, note_content(note), author, Action.DELETED, deleted_at=timezone.now())


@transaction.atomic
def restore(note: Note, number: int, author: Author) -> Note:
    """Restore the content of the version with this number in a new version, even if the note is
    deleted. Raises `NoteMissing` if there is no such version.
    """
    version = note.versions.filter(number=number).first()
    if version is None:
        raise NoteMissing(
            "version",
            gettext("version {number} of this note no longer exists.").format(number=number),
        )
    old, content, was_deleted = note.title, note_content(version), note.deleted_at is not None
    if content == note_content(note) and not was_deleted:
        return note
    restored = write(note, content, author, Action.RESTORED)
    if not was_deleted and title_key(old) != title_key(restored.title):
        update_links(restored, old, author)
    return restored


@transaction.atomic
def write(
    note: Note,
    content: NoteContent,
    author: Author,
    action: str,
    *,
    modified_at: datetime | None = None,
    deleted_at: datetime | None = None,
) -> Note:
    """Write the next version of a note. Raises `NoteChanged` if the stored version is newer."""
    now = timezone.now()
    values: dict[str, Any] = {
        **columns(content, author),
        "number": note.number + 1,
        "modified_at": modified_at or now,
        "deleted_at": deleted_at,
    }
    with unique(content.title):
        written = Note.objects.filter(pk=note.pk, number=note.number).update(**values)
    if not written:
        raise NoteChanged(
            "",
            gettext(
                "The note was changed in the meantime. Read it again, and edit the current version."
            ),
        )
    newest = Note.objects.get(pk=note.pk)
    record(newest, author, action, now)
    return newest


def columns(content: NoteContent, author: Author) -> dict[str, Any]:
    return {
        "title": content.title,
        "key": title_key(content.title),
        "text": content.text,
        "tags": list(content.tags),
        "fields": dict(content.fields),
        "is_by_agent": author.is_agent,
        "is_untrusted": author.is_untrusted,
    }


@contextmanager
def unique(title: str) -> Iterator[None]:
    """Convert a database error about a duplicate title to `NoteRefused`."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise NoteRefused(
            "title",
            gettext("a note titled {title} already exists. Choose another title.").format(
                title=repr(title)
            ),
        ) from error


def record(note: Note, author: Author, action: str, now: datetime) -> None:
    """Write the note's current version and its search data. Delete versions beyond `MOST_VERSIONS`."""
    version_of(note, author, action, now).save(force_insert=True)
    note.versions.filter(number__lte=note.number - MOST_VERSIONS).delete()
    note.tag_rows.all().delete()
    note.link_rows.all().delete()
    if note.deleted_at is None:
        index([note])


def version_of(note: Note, author: Author, action: str, now: datetime) -> NoteVersion:
    return NoteVersion(
        note=note,
        number=note.number,
        title=note.title,
        text=note.text,
        tags=note.tags,
        fields=note.fields,
        action=action,
        user_id=author.user_id,
        is_by_agent=author.is_agent,
        is_untrusted=author.is_untrusted,
        application=author.application,
        conversation=author.conversation,
        at=now,
    )


def index(notes: Iterable[Note]) -> None:
    """Write the rows for the tags and links of notes. The notes must not have such rows yet."""
    rows = list(notes)
    NoteTag.objects.bulk_create(
        NoteTag(note=note, key=title_key(name), name=name) for note in rows for name in note.tags
    )
    NoteLink.objects.bulk_create(
        NoteLink(note=note, key=key) for note in rows for key in linked_keys(note.text)
    )
