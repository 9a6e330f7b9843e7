"""Creates, edits, deletes and restores notes for users. Each change can be undone. A concurrent
change is never overwritten without a warning.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.legal_holds import is_held, refusal
from apps.catalog.history.differences import line_difference
from apps.chat.notes.access import living_note, note_author, own_note, own_space
from apps.chat.notes.form import NoteForm
from apps.chat.notes.pages import agent_name, author_name, newest_version
from apps.errors import FileChanged, FileRefused
from apps.integers import read_integer
from apps.notes import store
from apps.notes.attachments import FOLDER, attachment_path
from apps.notes.content import NoteContent, note_content, title_key
from apps.notes.errors import NoteChanged, NoteRefused
from apps.notes.models import Note
from apps.notes.spaces import NoteSpace
from apps.notes.store import Action
from apps.runs.explanations import error_text
from apps.workspace.local.files import files

MOST_NAMES = 100
"""The maximum number of attempts to find an unused file name."""
GONE = gettext_lazy(
    "The note has changed since you opened the page, so nothing was done. Check the current version."
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    space = own_space(request)
    initial = {"number": 0, "title": request.GET.get("title", "")[:200]}
    form = NoteForm(request.POST or None, request.FILES or None, initial=initial, label_suffix="")
    if request.method == "POST" and form.is_valid():
        note = save_form(
            form,
            lambda: store.create(space.owner, with_file(space, form), note_author(request)),
        )
        if note is not None:
            messages.success(request, gettext("Saved."))
            return redirect("note", note.pk)
    return page(request, space, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    space, note = living_note(request, pk)
    form = NoteForm.of(note, request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["number"] != note.number:
            return conflict(request, space, note, form)
        changed = save_form(form, lambda: change(request, space, note, form))
        if changed is not None:
            messages.success(request, gettext("Saved."))
            return redirect("note", note.pk)
        note.refresh_from_db()
        if note.number != form.cleaned_data["number"]:
            return conflict(request, space, note, form)
    return page(request, space, form, note=note)


@transaction.atomic
def change(request: HttpRequest, space: NoteSpace, note: Note, form: NoteForm) -> Note:
    """Save the form's content, and update links to the note if its title changes. Raises
    `NoteRefused` or `FileRefused` if the content is rejected.
    """
    content = with_file(space, form)
    if title_key(content.title) == title_key(note.title):
        return store.change(note, content, note_author(request))
    changed = store.change(note, replace(content, title=note.title), note_author(request))
    return store.rename(changed, content.title, note_author(request))[0]


def save_form(form: NoteForm, save: Callable[[], Note]) -> Note | None:
    """Call `save` and return its note. If the content is rejected, add the error to the form and
    return None. Also return None after a concurrent change.
    """
    try:
        return save()
    except NoteChanged:
        return None
    except NoteRefused as error:
        form.refuse(error)
    except FileRefused as error:
        form.add_error("file", error_text(error))
    return None


def with_file(space: NoteSpace, form: NoteForm) -> NoteContent:
    """Return the form's content, with a link to the uploaded file if there is one. Raises
    `NoteRefused` or `FileRefused`.
    """
    content, sent = form.content(), form.cleaned_data["file"]
    if sent is None:
        return content
    path = store_file(space.owner, sent)
    mark = "!" if (sent.content_type or "").startswith("image/") else ""
    name = (sent.name or "file").translate(_no_marks)
    gap = "\n\n" if content.text.strip() else ""
    return replace(content, text=f"{content.text.rstrip()}{gap}{mark}[{name}]({path})\n")


_no_marks = str.maketrans(dict.fromkeys("[]|\n\r", " "))


def store_file(owner: str, sent: UploadedFile[Any]) -> str:
    """Store an uploaded file under an unused name, and return its path. Raises `FileRefused` if the
    file is rejected or no name is free.
    """
    stem, dot, ending = (sent.name or "file").rpartition(".")
    for number in range(1, MOST_NAMES):
        name = f"{stem} {number}{dot}{ending}" if number > 1 else f"{stem}{dot}{ending}"
        try:
            content_type = sent.content_type or "application/octet-stream"
            files.take(owner, f"{FOLDER}{name}", sent, content_type, files.Condition(is_new=True))
        except FileChanged:
            continue
        # Parentheses would end the URL of a Markdown link.
        return attachment_path(owner, name).replace("(", quote("(")).replace(")", quote(")"))
    raise FileRefused(gettext("Too many files have this name. Choose another name."))


def conflict(request: HttpRequest, space: NoteSpace, note: Note, form: NoteForm) -> HttpResponse:
    """Show the form again with the differences from a concurrent change. If the user saves again,
    the form's content replaces the concurrent change, which remains in the note's history.
    """
    theirs = newest_version(note)
    mine = form.cleaned_data["text"].replace("\r\n", "\n").split("\n")
    form.data = {**request.POST.dict(), "number": note.number}
    context = {
        "who": agent_name(theirs) or author_name(theirs),
        "lines": line_difference(note.text.split("\n"), mine),
    }
    return page(request, space, form, note=note, conflict=context, status=409)


def page(
    request: HttpRequest,
    space: NoteSpace,
    form: NoteForm,
    *,
    note: Note | None = None,
    conflict: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {"space": space, "form": form, "note": note, "conflict": conflict}
    status = 400 if form.is_bound and form.errors and status == 200 else status
    return render(request, "chat/note_edit.html", context, status=status)


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the note as deleted, unless it has changed since the version in the form field
    `number`.
    """
    _, note = living_note(request, pk)
    if not is_as_seen(request, note):
        messages.error(request, GONE)
        return redirect("note", pk)
    store.delete(note, note_author(request))
    messages.success(
        request,
        gettext("“{title}” was deleted. You’ll find it under “Deleted”.").format(title=note.title),
    )
    return redirect("notes")


@login_required
@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Restore the note's content from the version in the form field `version`, as a new version."""
    _, note = own_note(request, pk)
    return undone(
        request,
        note,
        lambda: store.restore(note, sent_number(request, "version"), note_author(request)),
    )


@login_required
@require_POST
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo the note's newest change, unless the note has changed since the version in the form
    field `number`.
    """
    _, note = own_note(request, pk)
    if not is_as_seen(request, note):
        messages.error(request, GONE)
        return redirect("note", pk) if note.deleted_at is None else redirect("notes")
    return undone(request, note, lambda: undo_newest(note, request))


def undo_newest(note: Note, request: HttpRequest) -> Note:
    """Undo the newest change to a note. Raises `NoteRefused` if the change cannot be undone."""
    newest = note.versions.get(number=note.number)
    if newest.action == Action.DELETED:
        return store.restore(note, note.number, note_author(request))
    before = note.versions.filter(number__lt=note.number).order_by("-number").first()
    if before is None or before.action == Action.DELETED:
        return store.delete(note, note_author(request))
    return store.restore(note, before.number, note_author(request))


def undone(request: HttpRequest, note: Note, change: Callable[[], Note]) -> HttpResponse:
    try:
        changed = change()
    except NoteRefused as error:
        text = error_text(error)
        messages.error(request, gettext("No changes were made: {text}").format(text=text))
        return redirect("notes") if note.deleted_at is not None else redirect("note", note.pk)
    if changed.deleted_at is not None:
        messages.success(
            request,
            gettext("Undone. You’ll find “{title}” under “Deleted”.").format(title=changed.title),
        )
        return redirect("notes")
    same = note_content(changed).title
    messages.success(request, gettext("“{same}” was restored.").format(same=same))
    return redirect("note", note.pk)


@login_required
@require_POST
def erase_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Permanently delete a note with all its versions. It must already be marked as deleted."""
    space = own_space(request)
    note = get_object_or_404(Note, owner=space.owner, pk=pk, deleted_at__isnull=False)
    if is_held(space.owner):
        messages.error(request, refusal())
        return redirect("notes")
    note.delete()
    messages.success(request, gettext("The note was permanently deleted."))
    return redirect("notes")


def is_as_seen(request: HttpRequest, note: Note) -> bool:
    return sent_number(request, "number") == note.number


def sent_number(request: HttpRequest, field: str) -> int:
    """Return the version number in a form field, or -1 if it is invalid."""
    number = read_integer(request.POST.get(field, ""))
    return -1 if number is None else number
