"""The answer to a view that failed: a page, or JSON below `/api/`.

While the database is away it is 503, with the time after which to try again.
"""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults

RETRY_SECONDS = 1
AWAY = "The database cannot be reached. Try again in a moment."


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles the exception."""
    if not isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return defaults.server_error(request)
    answer: HttpResponse
    if request.path.startswith("/api/"):
        answer = JsonResponse({"detail": AWAY}, status=503)
    else:
        # Without the request: the page would ask the database who is signed in.
        answer = HttpResponse(render_to_string("503.html"), status=503)
    answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer
