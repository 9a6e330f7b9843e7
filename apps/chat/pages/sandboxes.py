"""Serves the HTML documents of frames that show content from a model.

A frame's document is empty, and receives its content from the page through `postMessage`. Its
scripts run with an opaque origin, without access to cookies, storage, the page or the network.
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
    """Return the frame document for a web page or an image that a model wrote."""
    response = render(request, "chat/artifact_frame.html")
    response["Content-Security-Policy"] = ARTIFACT
    return response


@require_safe
@xframe_options_sameorigin
def diagram(request: HttpRequest) -> HttpResponse:
    """Return the frame document that draws diagrams and sends them to the page as SVG."""
    response = render(request, "chat/diagram_frame.html")
    # The diagram library creates inline styles. 'self' matches nothing in a document with an opaque
    # origin.
    scripts = f"script-src 'nonce-{request.csp_nonce}'"  # type: ignore[attr-defined]  # by django-csp
    response["Content-Security-Policy"] = f"{SANDBOX}; {scripts}; style-src 'unsafe-inline'"
    return response
