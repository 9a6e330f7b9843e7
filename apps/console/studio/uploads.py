"""Stores files that users upload in the studio, for one application or for all applications."""

import mimetypes

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse

from apps.catalog.application_uploads import store_upload, upload_name
from apps.catalog.models import Application
from apps.console.admin.connect.shared_files import UNKNOWN_TYPE
from apps.console.studio.access import for_editors
from apps.errors import FileRefused
from apps.workspace.local.corpora.corpus import compare_soon
from apps.workspace.local.files import files
from apps.workspace.local.models import SharedFile

ADD = "workspace.add_sharedfile"
NO_FILE = "Choose a file."
NAME_IN_USE = "A file named {!r} already exists. Rename your file, or replace the existing one under Shared files."


@for_editors
def upload_file(request: HttpRequest, row: Application) -> JsonResponse:
    """Store an uploaded file, and return its `path`. With `shared`, all applications can use it.

    Raises `PermissionDenied` for a shared file if the user may not add shared files.
    """
    sent, is_shared = request.FILES.get("file"), request.POST.get("shared") == "true"
    if is_shared and not request.user.has_perm(ADD):
        raise PermissionDenied
    if sent is None:
        return JsonResponse({"message": NO_FILE}, status=422)
    written = sent.name or ""
    name = written if is_shared else upload_name(row, written)
    if SharedFile.objects.filter(name=name).exists():
        return JsonResponse({"message": NAME_IN_USE.format(name)}, status=422)
    kind = mimetypes.guess_type(name)[0] or sent.content_type or UNKNOWN_TYPE
    try:
        files.check_size(sent.size or 0)
        info = (
            files.share(name, sent, kind) if is_shared else store_upload(row, written, sent, kind)
        )
    except FileRefused as error:
        return JsonResponse({"message": str(error)}, status=422)
    compare_soon()
    return JsonResponse({"path": info.path})
