"""Serves the turns of a conversation that the page has not loaded yet."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from apps.chat.visitors import find_conversation
from apps.chat.window import turns_after, turns_around, turns_before, whole_turn
from apps.conversations.models import Conversation
from apps.doors.event_json import to_json
from apps.errors import Refused

HOW = gettext_lazy("Use `before`, `after` or `run` with a run ID, or `message` with a message ID.")


@require_safe
@never_cache
@gzip_page
def turns(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Return the turns before or after a run, the turns around a message, or the turn of one run,
    depending on the query.

    Raises Http404 if the visitor has no such conversation, or if the turns are not on its shown
    branch.
    """
    return send_turns(request, find_conversation(request, slug, conversation))


def send_turns(request: HttpRequest, found: Conversation) -> HttpResponse:
    """Return a JSON response with the turns that the query selects, or status 400 if the query is
    invalid. Raises Http404 if the turns are not on the shown branch.
    """
    asked = {name: str(value) for name, value in request.GET.items() if value}
    try:
        [(name, value)] = asked.items()
        turns_found = select_turns(found, name, UUID(value))
    except ValueError:
        return HttpResponse(HOW, status=400, content_type="text/plain; charset=utf-8")
    except Refused as error:
        raise Http404(str(error)) from error
    return HttpResponse(to_json(turns_found), content_type="application/json")


def select_turns(conversation: Conversation, name: str, target: UUID) -> dict[str, Any]:
    """Return the turns that a query such as `before=<run>` selects. `name` is the name of the query
    parameter, and `target` its value. Raises ValueError if the parameter is unknown, and `Refused`
    if the turns are not on the shown branch.
    """
    match name:
        case "before":
            return turns_before(conversation, target).to_dict()
        case "after":
            return turns_after(conversation, target).to_dict()
        case "message":
            return turns_around(conversation, target).to_dict()
        case "run":
            return {"turns": [whole_turn(conversation, target)], "before": None}
        case _:
            raise ValueError(name)
