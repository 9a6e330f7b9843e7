"""Finds the notes that a page shows: the current team's notes or the user's own."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from apps.accounts.caller import Caller
from apps.chat.visitors import visitor
from apps.notes.attachments import FOLDER
from apps.notes.models import Note
from apps.notes.spaces import NoteSpace, space_of
from apps.notes.store import Author


def own_space(request: HttpRequest) -> NoteSpace:
    """Return the notes of the current team or the user. Raises Http404 if the visitor has no
    notes.
    """
    found = space_of(visitor(request))
    if found is None:
        raise Http404("You have no notes on this server.")
    return found


def own_note(request: HttpRequest, pk: int) -> tuple[NoteSpace, Note]:
    """Return a note, and the space (the notes of a user or a team) that contains it. The note may
    be marked as deleted. Raises Http404 if there is no such note in the user's space.
    """
    space = own_space(request)
    return space, get_object_or_404(Note, owner=space.owner, pk=pk)


def living_note(request: HttpRequest, pk: int) -> tuple[NoteSpace, Note]:
    """Return a note, and the space (the notes of a user or a team) that contains it. Raises Http404
    if there is no such note in the user's space, or if the note is marked as deleted.
    """
    space = own_space(request)
    return space, get_object_or_404(Note, owner=space.owner, pk=pk, deleted_at=None)


def note_author(request: HttpRequest) -> Author:
    return Author(request.user.pk)


def is_file_of_notes(caller: Caller, bucket: str, name: str) -> bool:
    """Return True if the file belongs to the caller's own notes or, while the caller is working in
    a team, to the team's notes.
    """
    if not name.startswith(FOLDER):
        return False
    space = space_of(caller)
    return space is not None and space.owner == bucket
