"""The page on which people read what models were asked for their own answers."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.chat.request_access import are_shown
from apps.chat.visitors import visitor
from apps.live.models import Run
from apps.live.request_view import view_of
from apps.live.sent_requests import requests_of


@require_safe
@never_cache
def answer_requests(request: HttpRequest, run: UUID) -> HttpResponse:
    """Raises Http404, for the answer of somebody else as for a missing one."""
    if not are_shown():
        raise Http404
    found = get_object_or_404(Run, pk=run, bucket=visitor(request).bucket)
    context = {
        "requests": [view_of(row, parts) for row, parts in requests_of(found.pk)],
        "conversation_url": reverse("conversation", args=(found.application, found.stream)),
    }
    return render(request, "chat/requests.html", context)
