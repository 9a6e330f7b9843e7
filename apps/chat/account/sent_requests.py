"""The page that shows the requests that an answer sent to models."""

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.chat.visitors import visitor
from apps.live.history.request_view import view_of
from apps.live.history.sent_requests import requests_of
from apps.live.models import Run


@require_safe
@never_cache
def answer_requests(request: HttpRequest, run: UUID) -> HttpResponse:
    """Show the run's model requests. Raises Http404 if the run is not the user's own, or if the
    installation does not show model requests.
    """
    if not are_shown():
        raise Http404
    found = get_object_or_404(Run, pk=run, bucket=visitor(request).bucket)
    context = {
        "requests": [view_of(row, parts) for row, parts in requests_of(found.pk)],
        "conversation_url": reverse("conversation", args=(found.application, found.stream)),
    }
    return render(request, "chat/requests.html", context)


def are_shown() -> bool:
    """Return True if the installation shows users the model requests of their answers."""
    return settings.MODEL_REQUESTS != "none" and settings.MODEL_REQUESTS_SHOWN
