"""Notes are taken along as a ZIP archive of Markdown files, and read from one."""

from tempfile import TemporaryFile
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.chat.notes.access import own_space, person
from apps.chat.notes.note_pages import listing
from apps.errors import NoteRefused
from apps.notes.transfer.note_export import write_zip
from apps.notes.transfer.note_import import Imported, import_notes
from apps.notes.transfer.sources import open_zip


@login_required
@require_safe
@never_cache
def export(request: HttpRequest) -> HttpResponseBase:
    space = own_space(request)
    file: Any = TemporaryFile()  # noqa: SIM115 - the response closes it
    write_zip(space.owner, file)
    file.seek(0)
    return FileResponse(
        file, as_attachment=True, filename="notes.zip", content_type="application/zip"
    )


@login_required
@require_POST
def import_file(request: HttpRequest) -> HttpResponse:
    """The form field `file` is an archive."""
    space, sent = own_space(request), request.FILES.get("file")
    if sent is None:
        return listing(request, "Choose a file first.", 400)
    try:
        done = import_notes(space.owner, open_zip(sent), person(request))
    except NoteRefused as error:
        return listing(request, f"Nothing was imported: {error}", 400)
    messages.success(request, said(done))
    return redirect("notes")


def said(done: Imported) -> str:
    """Such as "3 new notes, 1 changed, 12 as they were, 2 files."."""
    parts = [
        f"{done.new} new {'note' if done.new == 1 else 'notes'}",
        f"{done.changed} changed",
        f"{done.same} as they were",
        f"{done.files} {'file' if done.files == 1 else 'files'}",
    ]
    left = f" {done.left_out} other files were left out." if done.left_out else ""
    return f"{', '.join(parts)}.{left}"
