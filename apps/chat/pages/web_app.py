"""Serves the files that make the site an installable web app: the manifest, the service worker and
the offline page.
"""

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
"""The background color while the installed web app starts. It equals `--paper` in the light theme.
"""
ICON_SIZES = (192, 512)
"""The sizes in pixels of the icons that Chromium requires."""
OFFLINE_FILES = (
    "chat/styles/account-menu.css",
    "chat/styles/tokens.css",
    "chat/styles/typeface.css",
    "chat/fonts/inter-latin.woff2",
    "chat/styles/elements.css",
    "chat/styles/file-input.css",
    "chat/styles/selects.css",
    "chat/styles/icons.css",
    "chat/styles/layout.css",
    "chat/styles/popovers.css",
    "chat/styles/index.css",
    "chat/scripts/site/theme.js",
    "chat/scripts/site/offline.js",
    "chat/images/icon.svg",
)
"""The static files that the offline page needs."""


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
    """Return the script of the service worker. It is served at the root, so that the worker
    controls all pages.
    """
    files = [static(name) for name in OFFLINE_FILES]
    installed = getattr(staticfiles_storage, "manifest_hash", "")
    # A changed version changes the worker's script, so that browsers install it and delete the old
    # cache.
    version = hashlib.sha256("\n".join([installed, *files]).encode()).hexdigest()[:12]
    context = {"version": version, "files": json.dumps([reverse("offline"), *files])}
    text = render_to_string("chat/service_worker.js", context)
    return HttpResponse(text, content_type="text/javascript; charset=utf-8")


@require_safe
@cache_control(no_cache=True)
def offline(request: HttpRequest) -> HttpResponse:
    """Return the page that the service worker shows if the server is unreachable. It contains no
    user data.
    """
    # Browsers cache this page, so it must not depend on the signed-in user.
    return HttpResponse(render_to_string("chat/offline.html"))
