"""Notes are taken along as a ZIP archive of Markdown files, and read from one."""

from tempfile import TemporaryFile
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.chat.notes.access import own_space, person
from apps.chat.notes.note_pages import listing
from apps.errors import NoteRefused
from apps.notes.transfer.note_export import write_zip
from apps.notes.transfer.note_import import Imported, import_notes
from apps.notes.transfer.sources import open_zip
from apps.runs.error_texts import error_text


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
        return listing(request, gettext("Choose a file first."), 400)
    try:
        done = import_notes(space.owner, open_zip(sent), person(request))
    except NoteRefused as error:
        return listing(
            request, gettext("Nothing was imported: {error}").format(error=error_text(error)), 400
        )
    messages.success(request, said(done))
    return redirect("notes")


def said(done: Imported) -> str:
    """Such as "3 new notes, 1 changed, 12 as they were, 2 files."."""
    parts = [
        ngettext("{count} new note", "{count} new notes", done.new).format(count=done.new),
        ngettext("{count} changed", "{count} changed", done.changed).format(count=done.changed),
        ngettext("{count} as they were", "{count} as they were", done.same).format(count=done.same),
        ngettext("{count} file", "{count} files", done.files).format(count=done.files),
    ]
    left = (
        gettext(" {left_out} other files were left out.").format(left_out=done.left_out)
        if done.left_out
        else ""
    )
    return f"{', '.join(parts)}.{left}"
