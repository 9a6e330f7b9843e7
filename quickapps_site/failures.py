"""Creates the response for a view that raised an exception: a page for browsers, JSON for other
clients.

During an outage, the status is 503, and the response has a `Retry-After` header.
"""

import logging
import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from apps.doors.refusals import outage_content
from apps.outages import RETRY_SECONDS, outage_of

logger = logging.getLogger(__name__)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response to a request for a page that the user may not see."""
    return framed_page(request, 403) or defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response to a request for a page that does not exist."""
    return framed_page(request, 404) or defaults.page_not_found(request, exception)


def framed_page(request: HttpRequest, status: int) -> HttpResponse | None:
    """Return an error page with the sidebar for a signed-in user who opened a page. Returns None
    for other requests, and if the sidebar cannot be rendered.
    """
    try:
        if "text/html" in request.headers.get("accept", "") and request.user.is_authenticated:
            return render(request, f"{status}.html", {"frame": "framed.html"}, status=status)
    except Exception:
        logger.exception("Rendered an error page without the sidebar")
    return None


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the response for a view that raised an exception. Django calls this while handling it."""
    outage = outage_of(sys.exc_info()[1])
    if outage is None:
        return defaults.server_error(request)
    accept = request.headers.get("accept", "")
    content_type, content = outage_content(outage, request.path, accept)
    answer = HttpResponse(content, status=503, content_type=content_type.decode())
    answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer
