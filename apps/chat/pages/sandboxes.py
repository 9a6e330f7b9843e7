"""Documents for frames that show content from a model: scripts can run there but cannot reach
anything else.

Each is an empty page that gets its content from its parent through `postMessage`. The policy gives
it an opaque origin: no cookies, no storage, no parent, no network.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

SANDBOX = "sandbox allow-scripts; default-src 'none'; frame-ancestors 'self'; base-uri 'none'"
ARTIFACT = (
    f"{SANDBOX}; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; media-src data: blob:"
)


@require_safe
@xframe_options_sameorigin
def artifact(request: HttpRequest) -> HttpResponse:
    """Return the document that displays a page or image."""
    response = render(request, "chat/artifact_frame.html")
    response["Content-Security-Policy"] = ARTIFACT
    return response


@require_safe
@xframe_options_sameorigin
def diagram(request: HttpRequest) -> HttpResponse:
    """Return the document that draws diagrams. It measures them in place and returns them as
    SVG.
    """
    response = render(request, "chat/diagram_frame.html")
    # The library writes styles. Without an origin, 'self' would match nothing.
    scripts = f"script-src 'nonce-{request.csp_nonce}'"  # type: ignore[attr-defined]  # by django-csp
    response["Content-Security-Policy"] = f"{SANDBOX}; {scripts}; style-src 'unsafe-inline'"
    return response
