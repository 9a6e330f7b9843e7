"""Returns JSON errors for unknown URLs and unsupported methods, in the format of Django REST
framework.
"""

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.urls import resolve
from django.utils.http import escape_leading_slashes
from django.views.decorators.csrf import csrf_exempt

View = Callable[..., Any]


@csrf_exempt
def nowhere(request: HttpRequest) -> HttpResponse:
    """Return a 404, or redirect to the same URL with a trailing slash if that exists.

    `APPEND_SLASH` does not work here, because this view matches every path.
    """
    mended = f"{request.path_info}/"
    if request.path_info.endswith("/") or resolve(mended).func is nowhere:
        return JsonResponse({"detail": "Not found."}, status=404)
    if request.method in ("GET", "HEAD"):
        address = request.get_full_path(force_append_slash=True)
        return HttpResponsePermanentRedirect(escape_leading_slashes(address))
    return JsonResponse({"detail": f"Not found. Use the URL {mended}"}, status=404)


def allow_methods(*methods: str) -> Callable[[View], View]:
    """Return a decorator that rejects all other methods with status 405.

    It also exempts the view from CSRF checks, so the view must not trust cookies.
    """

    def refusal(request: HttpRequest) -> JsonResponse | None:
        if request.method in methods:
            return None
        told = {"detail": f'Method "{request.method}" not allowed.'}
        return JsonResponse(told, status=405, headers={"Allow": ", ".join(methods)})

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
            refused = refusal(request)
            return view(request, *arguments, **named) if refused is None else refused

        @wraps(view)
        async def answer_later(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
            refused = refusal(request)
            return await view(request, *arguments, **named) if refused is None else refused

        return csrf_exempt(answer_later if iscoroutinefunction(view) else answer)

    return decorate
