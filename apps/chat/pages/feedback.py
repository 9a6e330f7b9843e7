"""Stores, lists and deletes users' feedback on answers."""

from typing import Any
from uuid import UUID

from django import forms
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.caller import Caller
from apps.chat.visitors import visitor
from apps.conversations.access import own
from apps.conversations.models import Message
from apps.feedback import ratings
from apps.feedback.models import Feedback
from apps.feedback.ratings import RatedAnswer

MOST_IDS = 200
"""The maximum number of answer IDs in one request."""
LONGEST_TEXT = 100_000


class FeedbackForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Feedback
        fields = ("rating", "reason", "comment", "shares_transcript")


@require_safe
@never_cache
def listing(request: HttpRequest) -> JsonResponse:
    """Return the user's feedback on the answers whose IDs are in the query parameter `message`,
    which can be repeated.
    """
    return list_feedback(request, visitor(request))


def list_feedback(request: HttpRequest, caller: Caller) -> JsonResponse:
    asked = {found for text in request.GET.getlist("message") if (found := uuid_of(text))}
    if len(asked) > MOST_IDS:
        return JsonResponse(
            {"error": f"message: send at most {MOST_IDS} IDs of answers."}, status=400
        )
    rows = ratings.find_all(caller).filter(message__in=asked)
    return JsonResponse({"feedback": {str(row.message): row.visible_fields for row in rows}})


def uuid_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@require_http_methods(["POST", "DELETE"])
def rate(request: HttpRequest, message: UUID) -> HttpResponse:
    """Store or delete the user's feedback on an answer. Raises Http404 if the answer is not the
    user's own.
    """
    return change_feedback(request, visitor(request), message)


def change_feedback(request: HttpRequest, caller: Caller, message: UUID) -> HttpResponse:
    if request.method == "DELETE":
        ratings.find_all(caller).filter(message=message).delete()
        return HttpResponse(status=204)
    answer = find_answer(caller, message)
    form = FeedbackForm(request.POST, instance=ratings.row_of(caller.bucket, answer))
    if form.is_valid() and form.cleaned_data.get("shares_transcript") and answer.is_temporary:
        form.add_error(
            "shares_transcript",
            gettext("Messages from a temporary chat can’t be included in feedback."),
        )
    if not form.is_valid():
        return JsonResponse({"errors": form.errors}, status=400)
    try:
        ratings.store_feedback(form.save(commit=False), answer)
    except IntegrityError:
        # A concurrent request, for example from another tab, has stored the first feedback.
        form = FeedbackForm(request.POST, instance=ratings.row_of(caller.bucket, answer))
        ratings.store_feedback(form.save(commit=False), answer)
    return JsonResponse({"feedback": form.instance.visible_fields})


def find_answer(caller: Caller, message: UUID) -> RatedAnswer:
    """Return the caller's answer with this ID.

    Raises Http404 if there is none. Also raises Http404 if the conversation's application was
    deleted, because no operator would see the feedback.
    """
    conversations = own(caller)
    if caller.limits.scope is not None:
        conversations = conversations.filter(application__in=caller.limits.scope)
    rows = Message.objects.filter(
        uuid=message, role=Message.Role.ASSISTANT, conversation__in=conversations
    )
    found = rows.select_related("conversation", "run").first()
    if found is None or found.conversation.application_id is None:
        raise Http404("This answer does not exist.")
    number = None if found.run is None else found.run.application_number
    return RatedAnswer(
        found.uuid,
        found.conversation_id,
        found.run_id,
        (found.run and found.run.application_pk) or found.conversation.application_id,
        number or found.usage.get("version"),
        transcript_of(found),
        is_temporary=found.conversation.temporary_until is not None,
    )


def transcript_of(answer: Message) -> dict[str, Any]:
    """Return the answer and its question as JSON. Each text is truncated to 100,000 characters."""
    before = answer.conversation.messages.filter(pk__lt=answer.pk, role=Message.Role.USER)
    question = before.last()
    return {
        "question": {} if question is None else message_content(question),
        "answer": message_content(answer),
    }


def message_content(message: Message) -> dict[str, Any]:
    titles = [one.get("title") or one.get("url") or "" for one in message.attachments]
    at = message.created_at.isoformat()
    return {"text": message.text[:LONGEST_TEXT], "files": titles, "at": at}
