"""Forms are read as UTF-8, which the pages are written in, whatever their sender calls them.

Django believes the sender, fails at some encodings even while it refuses them, and makes half
characters of others, which can be neither stored nor shown.
"""

from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


@sync_and_async_middleware
def read_forms_as_utf8(get_response: Any) -> Any:
    """Middleware, above all that reads a form."""

    def middleware(request: HttpRequest) -> Any:
        if request.encoding and request.content_type in FORMS:
            request.encoding = "utf-8"
        return get_response(request)

    return markcoroutinefunction(middleware) if iscoroutinefunction(get_response) else middleware
