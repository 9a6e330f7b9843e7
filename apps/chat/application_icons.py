"""The pictures that applications show. An address names its content, so it is cached for good."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.catalog.icons.images import MEDIA_TYPES, image_of

LOCKED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""No script of an SVG runs and nothing is loaded by it, even when it is opened by its address."""


@require_safe
def application_icon(request: HttpRequest, name: str) -> HttpResponse:
    """Raises Http404."""
    content = image_of(name)
    if content is None:
        raise Http404("There is no such picture.")
    answer = HttpResponse(content, content_type=MEDIA_TYPES[name.rpartition(".")[2]])
    answer["Content-Security-Policy"] = LOCKED
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "public, max-age=31536000, immutable"
    return answer
