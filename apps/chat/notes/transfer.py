"""Exports and imports notes as a ZIP of Markdown files."""

import asyncio
from collections.abc import AsyncIterator
from tempfile import TemporaryFile
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.chat.notes.access import note_author, own_space
from apps.chat.notes.pages import show_list
from apps.notes.errors import NoteRefused
from apps.notes.transfer.note_export import write_zip
from apps.notes.transfer.note_import import ImportedNotes, import_notes
from apps.notes.transfer.sources import open_zip
from apps.runs.explanations import error_text

CHUNK_BYTES = 256 * 1024


@login_required
@require_safe
@never_cache
def export(request: HttpRequest) -> HttpResponseBase:
    space = own_space(request)
    file: Any = TemporaryFile()  # noqa: SIM115 - the response closes it
    write_zip(space.owner, file)
    file.seek(0)
    return StreamingHttpResponse(
        read_chunks(file),
        content_type="application/zip",
        headers={"Content-Disposition": 'attachment; filename="notes.zip"'},
    )


async def read_chunks(file: Any) -> AsyncIterator[bytes]:
    """Yield the file's content in chunks, and then close the file."""
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk


@login_required
@require_POST
def import_file(request: HttpRequest) -> HttpResponse:
    """Import notes from the ZIP in the form field `file`."""
    space, sent = own_space(request), request.FILES.get("file")
    if sent is None:
        return show_list(request, gettext("Choose a file first."), 400)
    try:
        done = import_notes(space.owner, open_zip(sent), note_author(request))
    except NoteRefused as error:
        return show_list(
            request, gettext("Nothing was imported: {error}").format(error=error_text(error)), 400
        )
    messages.success(request, import_summary(done))
    return redirect("notes")


def import_summary(done: ImportedNotes) -> str:
    """Return the summary of an import, such as "3 new notes, 1 changed, 12 unchanged, 2 files."."""
    parts = [
        ngettext("{count} new note", "{count} new notes", done.new).format(count=done.new),
        ngettext("{count} changed", "{count} changed", done.changed).format(count=done.changed),
        ngettext("{count} unchanged", "{count} unchanged", done.same).format(count=done.same),
        ngettext("{count} file", "{count} files", done.files).format(count=done.files),
    ]
    left = (
        gettext(" Other files skipped: {left_out}.").format(left_out=done.left_out)
        if done.left_out
        else ""
    )
    return f"{', '.join(parts)}.{left}"
