"""Pages that change notes. What is changed can be brought back, and nothing of others is overwritten."""

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

from apps.catalog.history.line_differences import line_difference
from apps.chat.notes.access import living_note, own_note, own_space, person
from apps.chat.notes.form import NoteForm
from apps.chat.notes.note_pages import agent_name, author_name, newest_version
from apps.errors import FileChanged, FileRefused, NoteChanged, NoteRefused
from apps.integers import read_integer
from apps.notes import store
from apps.notes.attachments import FOLDER, path_of
from apps.notes.content import NoteContent, content_of, key_of
from apps.notes.models import Note
from apps.notes.spaces import NoteSpace
from apps.notes.store import Action
from apps.runs.error_texts import error_text
from apps.workspace.local import files

MOST_NAMES = 100
"""Attempts to find a name for a file."""
GONE = gettext_lazy("It was changed meanwhile, so nothing was done. Look at what it says now.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    space = own_space(request)
    initial = {"number": 0, "title": request.GET.get("title", "")[:200]}
    form = NoteForm(request.POST or None, request.FILES or None, initial=initial, label_suffix="")
    if request.method == "POST" and form.is_valid():
        note = saved(
            form,
            lambda: store.create(space.owner, with_file(space, form), person(request)),
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
        changed = saved(form, lambda: change(request, space, note, form))
        if changed is not None:
            messages.success(request, gettext("Saved."))
            return redirect("note", note.pk)
        note.refresh_from_db()
        if note.number != form.cleaned_data["number"]:
            return conflict(request, space, note, form)
    return page(request, space, form, note=note)


@transaction.atomic
def change(request: HttpRequest, space: NoteSpace, note: Note, form: NoteForm) -> Note:
    """A new title takes links along. Raises `NoteRefused`."""
    content = with_file(space, form)
    if key_of(content.title) == key_of(note.title):
        return store.change(note, content, person(request))
    changed = store.change(note, replace(content, title=note.title), person(request))
    return store.rename(changed, content.title, person(request))[0]


def saved(form: NoteForm, save: Callable[[], Note]) -> Note | None:
    """None if the form says why not."""
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
    """What the form says, with a link to the file that came with it.

    Raises `NoteRefused`, `FileRefused`.
    """
    content, sent = form.content(), form.cleaned_data["file"]
    if sent is None:
        return content
    path = stored(space.owner, sent)
    mark = "!" if (sent.content_type or "").startswith("image/") else ""
    name = (sent.name or "file").translate(_no_marks)
    gap = "\n\n" if content.text.strip() else ""
    return replace(content, text=f"{content.text.rstrip()}{gap}{mark}[{name}]({path})\n")


_no_marks = str.maketrans(dict.fromkeys("[]|\n\r", " "))


def stored(owner: str, sent: UploadedFile[Any]) -> str:
    """The path of a new file, under another name if there is one. Raises `FileRefused`."""
    stem, dot, ending = (sent.name or "file").rpartition(".")
    for number in range(1, MOST_NAMES):
        name = f"{stem} {number}{dot}{ending}" if number > 1 else f"{stem}{dot}{ending}"
        try:
            content_type = sent.content_type or "application/octet-stream"
            files.take(owner, f"{FOLDER}{name}", sent, content_type, files.Condition(is_new=True))
        except FileChanged:
            continue
        # Parentheses would end the address of a link.
        return path_of(owner, name).replace("(", quote("(")).replace(")", quote(")"))
    raise FileRefused(gettext("There are many files of this name; give it another one."))


def conflict(request: HttpRequest, space: NoteSpace, note: Note, form: NoteForm) -> HttpResponse:
    """Show what somebody else wrote meanwhile. Saving again replaces that, and it stays a version."""
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
    """The form field `number` is the version that the person saw."""
    _, note = living_note(request, pk)
    if not is_as_seen(request, note):
        messages.error(request, GONE)
        return redirect("note", pk)
    store.delete(note, person(request))
    messages.success(
        request, gettext("“{title}” was deleted. It is below “Deleted”.").format(title=note.title)
    )
    return redirect("notes")


@login_required
@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the note say again what it said in the `version`."""
    _, note = own_note(request, pk)
    return undone(
        request, note, lambda: store.restore(note, sent_number(request, "version"), person(request))
    )


@login_required
@require_POST
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back the newest change, which is the version `number` that the person saw."""
    _, note = own_note(request, pk)
    if not is_as_seen(request, note):
        messages.error(request, GONE)
        return redirect("note", pk) if note.deleted_at is None else redirect("notes")
    return undone(request, note, lambda: take_back(note, request))


def take_back(note: Note, request: HttpRequest) -> Note:
    """Raises `NoteRefused`."""
    newest = note.versions.get(number=note.number)
    if newest.action == Action.DELETED:
        return store.restore(note, note.number, person(request))
    before = note.versions.filter(number__lt=note.number).order_by("-number").first()
    if before is None or before.action == Action.DELETED:
        return store.delete(note, person(request))
    return store.restore(note, before.number, person(request))


def undone(request: HttpRequest, note: Note, change: Callable[[], Note]) -> HttpResponse:
    try:
        changed = change()
    except NoteRefused as error:
        text = error_text(error)
        messages.error(request, gettext("Nothing was done: {text}").format(text=text))
        return redirect("notes") if note.deleted_at is not None else redirect("note", note.pk)
    if changed.deleted_at is not None:
        messages.success(
            request,
            gettext("Undone: “{title}” is below “Deleted” now.").format(title=changed.title),
        )
        return redirect("notes")
    same = content_of(changed).title
    messages.success(request, gettext("“{same}” is as it was.").format(same=same))
    return redirect("note", note.pk)


@login_required
@require_POST
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a deleted note for good, with all its versions."""
    space = own_space(request)
    get_object_or_404(Note, owner=space.owner, pk=pk, deleted_at__isnull=False).delete()
    messages.success(request, gettext("It is gone for good."))
    return redirect("notes")


def is_as_seen(request: HttpRequest, note: Note) -> bool:
    return sent_number(request, "number") == note.number


def sent_number(request: HttpRequest, field: str) -> int:
    """-1, which no version has, for what is no number."""
    number = read_integer(request.POST.get(field, ""))
    return -1 if number is None else number
