"""Decodes forms as UTF-8, the encoding of the pages, even if the sender declares another encoding.

Django would use the declared encoding. For some encodings, it then raises an error even while
rejecting the request. For others, it returns lone surrogates, which cannot be stored or displayed.
"""

from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


@sync_and_async_middleware
def read_forms_as_utf8(get_response: Any) -> Any:
    """Create a Django middleware that decodes forms as UTF-8. It must precede all middleware that
    reads forms.
    """

    def middleware(request: HttpRequest) -> Any:
        if request.encoding and request.content_type in FORMS:
            request.encoding = "utf-8"
        return get_response(request)

    return markcoroutinefunction(middleware) if iscoroutinefunction(get_response) else middleware
