"""Every change of a note: one transaction, which writes the note, its version, and what finds it.

A change is of the version that its author saw. If there is a newer one, nothing is written and
`NoteChanged` is raised, so that two who write at once lose nothing. All functions raise `NoteRefused`.
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

from apps.errors import NoteChanged, NoteMissing, NoteRefused
from apps.notes.content import NoteContent, checked, content_of, key_of
from apps.notes.limits import MOST_NOTES, MOST_VERSIONS
from apps.notes.links import linked_keys, with_links_to
from apps.notes.models import Note, NoteLink, NoteTag, NoteVersion

ATTEMPTS = 5
AT_ONCE = 500
"""New notes of one statement."""
Action = NoteVersion.Action


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: the person of `user_id`, or an agent on their behalf.

    `application` is the agent's slug, `conversation` the id of where it writes. `is_untrusted`: it
    has read what strangers wrote.
    """

    user_id: int | None
    is_agent: bool = False
    application: str = ""
    conversation: str = ""
    is_untrusted: bool = False


def notes_of(owner: str) -> QuerySet[Note]:
    """The notes of one workspace that are not deleted."""
    return Note.objects.filter(owner=owner, deleted_at=None)


def find(owner: str, title: str) -> Note:
    """Raises `NoteMissing`."""
    found = notes_of(owner).filter(key=key_of(title)).first()
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
    """A new note, as old as it says or of now."""
    content, now = checked(content), timezone.now()
    if notes_of(owner).count() >= MOST_NOTES:
        raise NoteRefused("", f"there is room for {MOST_NOTES:,} notes; delete some first.")
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
    """A checked note that there is not yet, as old as it says."""

    content: NoteContent
    created_at: datetime
    modified_at: datetime


@transaction.atomic
def create_all(owner: str, new: Sequence[NewNote], author: Author, action: str) -> None:
    """As `create`, for many of which none has the title of another one."""
    now = timezone.now()
    if notes_of(owner).count() + len(new) > MOST_NOTES:
        raise NoteRefused("", f"there is room for {MOST_NOTES:,} notes; delete some first.")
    for batch in batched(new, AT_ONCE):
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
                "title", "one of the titles was taken meanwhile; try again."
            ) from error
        NoteVersion.objects.bulk_create(version_of(row, author, action, now) for row in rows)
        index(rows)


def batched(rows: Sequence[NewNote], size: int) -> Iterator[Sequence[NewNote]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def change(
    note: Note,
    content: NoteContent,
    author: Author,
    *,
    action: str = Action.CHANGED,
    modified_at: datetime | None = None,
) -> Note:
    """Make the note say this; the same as before is no change."""
    content = checked(content)
    if content == content_of(note) and note.deleted_at is None:
        return note
    return write(note, content, author, action, modified_at=modified_at)


def change_newest(
    owner: str, title: str, edit: Callable[[NoteContent], NoteContent], author: Author
) -> Note:
    """Apply an edit to the newest version, again if somebody else was quicker."""
    for _ in range(ATTEMPTS - 1):
        note = find(owner, title)
        try:
            return change(note, edit(content_of(note)), author)
        except NoteChanged:
            continue
    note = find(owner, title)
    return change(note, edit(content_of(note)), author)


@transaction.atomic
def rename(note: Note, title: str, author: Author) -> tuple[Note, int]:
    """The note under another title, and in how many other notes links follow."""
    old = note.title
    content = replace(content_of(note), title=title, text=with_links_to(note.text, old, title))
    note = change(note, content, author, action=Action.RENAMED)
    return note, follow(note, old, author)


def follow(note: Note, old: str, author: Author) -> int:
    """Let links to the old title of a note lead to its title of now; in how many other notes."""
    others = notes_of(note.owner).filter(link_rows__key=key_of(old)).exclude(pk=note.pk)
    changed = 0
    for other in others.select_for_update(of=("self",)):
        text = with_links_to(other.text, old, note.title)
        if text != other.text:
            write(other, replace(content_of(other), text=text), author, Action.RELINKED)
            changed += 1
    return changed


def delete(note: Note, author: Author) -> Note:
    """Take the note away; `restore` brings it back."""
    return write(note, content_of(note), author, Action.DELETED, deleted_at=timezone.now())


@transaction.atomic
def restore(note: Note, number: int, author: Author) -> Note:
    """Make the note say again what it said in a version; a deleted one comes back."""
    version = note.versions.filter(number=number).first()
    if version is None:
        raise NoteMissing("version", f"there is no version {number} of this note any more.")
    old, content, was_deleted = note.title, content_of(version), note.deleted_at is not None
    if content == content_of(note) and not was_deleted:
        return note
    restored = write(note, content, author, Action.RESTORED)
    if not was_deleted and key_of(old) != key_of(restored.title):
        follow(restored, old, author)
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
    """The next version, if the note still is as `note` says."""
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
            gettext("The note was changed meanwhile. Read it again, and change what it says now."),
        )
    newest = Note.objects.get(pk=note.pk)
    record(newest, author, action, now)
    return newest


def columns(content: NoteContent, author: Author) -> dict[str, Any]:
    return {
        "title": content.title,
        "key": key_of(content.title),
        "text": content.text,
        "tags": list(content.tags),
        "fields": dict(content.fields),
        "is_by_agent": author.is_agent,
        "is_untrusted": author.is_untrusted,
    }


@contextmanager
def unique(title: str) -> Iterator[None]:
    """Turn the database's refusal of a title that is taken into a sentence."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise NoteRefused(
            "title", f"there is a note {title!r} already; choose another title."
        ) from error


def record(note: Note, author: Author, action: str, now: datetime) -> None:
    """Write down the version, and what finds the note."""
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
    """Write the tags and links of notes that have none yet."""
    rows = list(notes)
    NoteTag.objects.bulk_create(
        NoteTag(note=note, key=key_of(name), name=name) for note in rows for name in note.tags
    )
    NoteLink.objects.bulk_create(
        NoteLink(note=note, key=key) for note in rows for key in linked_keys(note.text)
    )
