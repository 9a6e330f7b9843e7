"""Serves the alternative answers to a question. The page shows them side by side."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from apps.chat.file_views import problem
from apps.chat.visitors import find_conversation
from apps.conversations.branches import ASSISTANT, USER, find_message, outline
from apps.conversations.files.folder import is_uuid
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.figures import figures_of, visible_metrics
from apps.errors import Refused

MOST_ANSWERS = 3
"""The maximum number of answers that the page shows side by side."""


@require_safe
@never_cache
@gzip_page
def alternatives(request: HttpRequest, slug: str, conversation: UUID) -> JsonResponse:
    """Return the newest answers to the question `message` as JSON, oldest first. Raises Http404 if
    the visitor has no such conversation, or the conversation does not contain the question.
    """
    found = find_conversation(request, slug, conversation)
    asked = request.GET.get("message", "")
    if not is_uuid(asked):
        return problem("bad_request", "message: use the ID of a question.", 400)
    try:
        answers = answers_to(found, UUID(asked))
    except Refused as error:
        raise Http404(str(error)) from error
    return JsonResponse({"answers": answers})


def answers_to(conversation: Conversation, question: UUID) -> list[dict[str, Any]]:
    """Return up to `MOST_ANSWERS` answers to the question. They always include the answer on the
    shown branch. Raises `Refused` if the question does not exist.
    """
    tree = outline(conversation)
    row = find_message(tree, question, USER)
    path = {one.pk for one in tree.shown(conversation.leaf_id)}
    keys = [one.pk for one in tree.children(row.pk) if one.role == ASSISTANT]
    # The shown answer may be older than the others.
    newest = sorted(keys, key=lambda key: (key in path, key))[-MOST_ANSWERS:]
    rows = Message.objects.filter(pk__in=newest).order_by("pk")
    return [describe_answer(one, is_shown=one.pk in path) for one in rows]


def describe_answer(answer: Message, *, is_shown: bool) -> dict[str, Any]:
    metrics = visible_metrics(figures_of(answer.usage))
    return {
        "id": str(answer.uuid),
        "text": answer.text,
        "attachments": answer.attachments,
        "finish_reason": answer.finish_reason,
        "models": metrics.get("models", []),
        "seconds": metrics.get("seconds"),
        "is_shown": is_shown,
    }
