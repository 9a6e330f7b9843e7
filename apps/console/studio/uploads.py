"""Files that are uploaded in the studio: for its application alone, or for all."""

import mimetypes

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse

from apps.catalog.models import Application
from apps.console.admin.shared_files import UNKNOWN_TYPE
from apps.console.studio.access import for_editors
from apps.errors import FileRefused
from apps.workspace.local import files
from apps.workspace.local.corpus import compare_soon
from apps.workspace.local.models import PUBLIC, SharedFile
from apps.workspace.local.paths import write_path

ADD = "workspace.add_sharedfile"
APPLICATIONS = "applications/"
"""The folder of shared files that belong to one application each."""
NO_FILE = "Choose a file."
TAKEN = "There is already a file {!r}. Rename yours, or replace that one under Shared files."


def own_folder(application: Application) -> str:
    """The folder of its files among the shared ones; other applications are not offered them."""
    return f"{APPLICATIONS}{application.slug}/"


def is_offered(name: str, application: Application) -> bool:
    return not name.startswith(APPLICATIONS) or name.startswith(own_folder(application))


@for_editors
def upload_file(request: HttpRequest, row: Application) -> JsonResponse:
    """Store a file under its own name; `shared` offers it to all applications.

    The answer has its `path`. Raises PermissionDenied.
    """
    sent, is_shared = request.FILES.get("file"), request.POST.get("shared") == "true"
    if is_shared and not request.user.has_perm(ADD):
        raise PermissionDenied
    if sent is None:
        return JsonResponse({"message": NO_FILE}, status=422)
    name = (sent.name or "") if is_shared else f"{own_folder(row)}{sent.name}"
    if SharedFile.objects.filter(name=name).exists():
        return JsonResponse({"message": TAKEN.format(name)}, status=422)
    kind = mimetypes.guess_type(name)[0] or sent.content_type or UNKNOWN_TYPE
    try:
        files.check_size(sent.size or 0)
        files.share(name, sent, kind)
    except FileRefused as error:
        return JsonResponse({"message": str(error)}, status=422)
    compare_soon()
    return JsonResponse({"path": write_path(PUBLIC, name)})
