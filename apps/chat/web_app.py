"""What a browser needs to install the page: a manifest, a service worker, a page for no connection."""

import hashlib
import json

from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

NAME = "QuickApps"
PAPER = "#faf9f6"
"""The colour behind the page while it starts: `--paper` of the light theme."""
ICON_SIZES = (192, 512)
"""Pixels of the pictures that Chromium asks for."""
OFFLINE_FILES = (
    "chat/styles/tokens.css",
    "chat/styles/elements.css",
    "chat/styles/layout.css",
    "chat/styles/index.css",
    "chat/scripts/theme.js",
    "chat/scripts/offline.js",
    "chat/images/icon.svg",
)
"""All that the page for no connection is made of."""


@require_safe
@cache_control(max_age=3600)
def web_manifest(request: HttpRequest) -> JsonResponse:
    icons = [
        {
            "src": static(f"chat/images/icon-{size}.png"),
            "sizes": f"{size}x{size}",
            "type": "image/png",
            "purpose": "any maskable",
        }
        for size in ICON_SIZES
    ]
    drawn = {"src": static("chat/images/icon.svg"), "sizes": "any", "type": "image/svg+xml"}
    manifest = {
        "name": NAME,
        "short_name": NAME,
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": PAPER,
        "icons": [drawn, *icons],
    }
    return JsonResponse(manifest, content_type="application/manifest+json")


@require_safe
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """The worker, which has to stand at the root to serve all pages."""
    files = [static(name) for name in OFFLINE_FILES]
    installed = getattr(staticfiles_storage, "manifest_hash", "")
    # With other files the worker is another one, and deletes what the one before has kept.
    version = hashlib.sha256("\n".join([installed, *files]).encode()).hexdigest()[:12]
    context = {"version": version, "files": json.dumps([reverse("offline"), *files])}
    text = render_to_string("chat/service_worker.js", context)
    return HttpResponse(text, content_type="text/javascript; charset=utf-8")


@require_safe
@cache_control(no_cache=True)
def offline(request: HttpRequest) -> HttpResponse:
    """What the worker shows when the server cannot be reached. It names nobody."""
    # Without the request: the page is kept, and must not say who was signed in.
    return HttpResponse(render_to_string("chat/offline.html"))
