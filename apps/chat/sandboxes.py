"""Documents for frames that show what a model made: scripts may run there, and reach nothing else.

Each is a page without content, which its parent hands over with `postMessage`. The policy gives it
an origin of its own: no cookies, no storage, no parent, no network.
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
    """Shows the page or picture that it is handed."""
    response = render(request, "chat/artifact_frame.html")
    response["Content-Security-Policy"] = ARTIFACT
    return response


@require_safe
@xframe_options_sameorigin
def diagram(request: HttpRequest) -> HttpResponse:
    """Draws diagrams, which it measures in its own document, and hands them back as SVG."""
    response = render(request, "chat/diagram_frame.html")
    # The library writes styles; without an origin, 'self' would match nothing.
    scripts = f"script-src 'nonce-{request.csp_nonce}'"  # type: ignore[attr-defined]  # by django-csp
    response["Content-Security-Policy"] = f"{SANDBOX}; {scripts}; style-src 'unsafe-inline'"
    return response
