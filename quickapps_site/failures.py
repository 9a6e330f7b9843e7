"""Creates the response for a view that raised an exception: a page for browsers, JSON for other
clients.

During an outage, the status is 503, and the response has a `Retry-After` header.
"""

import sys

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from apps.doors.refusals import outage_content
from apps.outages import RETRY_SECONDS, outage_of


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
