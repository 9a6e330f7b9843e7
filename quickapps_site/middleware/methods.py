"""Shows a page in place of Django's empty response to a request with an unsupported method, such as
a bookmark of a URL to which a form is sent.
"""

from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import sync_and_async_middleware

from quickapps_site.failures import framed_page


@sync_and_async_middleware
def explain_unsupported_methods(get_response: Any) -> Any:
    def middleware(request: HttpRequest) -> Any:
        response = get_response(request)
        return explained(request, response) if is_blank_page(request, response) else response

    async def async_middleware(request: HttpRequest) -> Any:
        response = await get_response(request)
        if not is_blank_page(request, response):
            return response
        return await sync_to_async(explained)(request, response)

    if iscoroutinefunction(get_response):
        return markcoroutinefunction(async_middleware)
    return middleware


def is_blank_page(request: HttpRequest, response: HttpResponse) -> bool:
    opens_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    return response.status_code == 405 and opens_page and not response.content


def explained(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    page = framed_page(request, 405) or render(request, "405.html", status=405)
    page.headers["Allow"] = response.headers["Allow"]
    return page
