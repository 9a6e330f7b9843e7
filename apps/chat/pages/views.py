"""The home page, the chat page, and the actions for one conversation, such as rename, download and
delete.
"""

from collections.abc import Iterable
from urllib.parse import quote, urlencode
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from apps.catalog.access import usable
from apps.catalog.icons.images import MEDIA_TYPES, image_of
from apps.chat.exports.conversation import document, export_name, markdown
from apps.chat.models import PinnedApplication
from apps.chat.pages.data import conversation_data, data_of
from apps.chat.pages.tour import tour_of
from apps.chat.rail import content
from apps.chat.visitors import (
    ConversationMoved,
    account_user,
    find_conversation,
    visitor,
    with_sign_in,
)
from apps.conversations.access import own_lasting, person_stream, why_ended
from apps.conversations.keeping import arrangement
from apps.conversations.listing import LISTED_CONVERSATIONS
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation
from apps.conversations.outcome.context_use import context_usage
from apps.live.hub import HUB
from apps.live.journal.notifications import announce_growth

LONGEST_TITLE = 200
LONGEST_ADDRESSED = 8001
"""The maximum number of characters that are read from a question in a URL. It is one more than the
page accepts, so that the page rejects longer questions as too long.
"""
LOCKED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""The content security policy for icons. With this policy, an SVG image runs no scripts and loads
nothing, even if a user opens its URL.
"""


@require_safe
@never_cache
@ensure_csrf_cookie
def index(request: HttpRequest) -> HttpResponse:
    """Show a new conversation with the most recently used application, and the list of
    applications.

    The query parameter `q` fills the message box with a question. `app` selects another application
    by its slug.
    """
    caller = visitor(request)
    applications = usable(caller).only("slug", "title", "description", "icon")
    question = request.GET.get("q", "")[:LONGEST_ADDRESSED].strip()
    if question and applications.filter(slug=request.GET.get("app", "")).exists():
        return redirect(
            f"{reverse('chat', args=[request.GET['app']])}?{urlencode({'q': question})}"
        )
    earlier = own_lasting(caller).exclude(application__in=usable(caller).values("pk"))
    earlier = earlier.select_related("application")[:LISTED_CONVERSATIONS]
    pins = set(
        PinnedApplication.objects.filter(owner=caller.bucket).values_list("application", flat=True)
    )
    pinned = [one for one in applications if one.pk in pins]
    others = [one for one in applications if one.pk not in pins]
    recent = list(content.recent(caller))
    context = {
        "applications": applications,
        "pinned": pinned,
        "others": others,
        "recent": content.recent_rows(recent),
        "earlier": by_application(earlier),
        "question": question,
        "tour": tour_of(request),
    }
    if not applications:
        return render(request, "chat/index.html", context)
    slug = recent[0].application_slug if recent else [*pinned, *others][0].slug
    page = conversation_data(request, caller, slug, None)
    page["attributes"] |= {
        "greeting": greeting(request),
        "only": "yes" if len(applications) == 1 else "",
    }
    context |= {**page, "page_data": data_of(page), "new_chat": reverse("chat", args=(slug,))}
    return render(request, "chat/home.html", context)


def greeting(request: HttpRequest) -> str:
    if not request.user.is_authenticated:
        return gettext("What can I help you with?")
    user = account_user(request)
    return gettext("Hello, {name}").format(name=user.first_name or user.get_username())


def by_application(conversations: Iterable[Conversation]) -> list[list[Conversation]]:
    """Group conversations by application, preserving their order."""
    found: dict[int | None, list[Conversation]] = {}
    for conversation in conversations:
        application = conversation.application_id or conversation.former_application
        found.setdefault(application, []).append(conversation)
    return list(found.values())


@require_safe
@never_cache
@ensure_csrf_cookie
@with_sign_in
def chat(request: HttpRequest, slug: str, conversation: UUID | None = None) -> HttpResponse:
    caller = visitor(request)
    try:
        page = conversation_data(request, caller, slug, conversation)
    except ConversationMoved as moved:
        return redirect("conversation", moved.slug, conversation)
    context = {
        **page,
        "page_data": data_of(page),
        "new_chat": reverse(
            "index" if page["ended"] else "chat", args=() if page["ended"] else (slug,)
        ),
    }
    return render(request, "chat/chat.html", context)


@require_safe
@never_cache
def page_data(request: HttpRequest, slug: str, conversation: UUID | None = None) -> JsonResponse:
    """Return the data that an open page needs to show another conversation."""
    caller = visitor(request)
    return JsonResponse(data_of(conversation_data(request, caller, slug, conversation)))


@require_POST
def rename(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Change the conversation's title. Raises Http404 if the visitor has no such conversation."""
    found = find_conversation(request, slug, conversation)
    title = " ".join(request.POST.get("title", "").split())
    if not title or len(title) > LONGEST_TITLE:
        text = gettext("Enter a title of 1 to {limit} characters.").format(limit=LONGEST_TITLE)
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    arrangement.change(found, title=title)
    mirror(found.pk)
    announce(found)
    return redirect("conversation", slug, conversation)


@require_POST
def delete(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Mark the conversation as deleted and stop its running answer. Housekeeping later deletes it
    permanently.
    """
    found = find_conversation(request, slug, conversation)
    caller = visitor(request)
    arrangement.delete(HUB, caller, found, slug)
    announce(found)
    return redirect("index") if why_ended(caller, found) else redirect("chat", slug)


@require_POST
def make_permanent(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Convert a temporary conversation into a permanent one."""
    found = find_conversation(request, slug, conversation)
    arrangement.make_permanent(found)
    announce(found)
    return redirect("conversation", slug, conversation)


@require_safe
@never_cache
@with_sign_in
def download(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Return the conversation's shown branch as Markdown or, with `?format=json`, all branches as
    JSON. Raises Http404 if the visitor has no such conversation.
    """
    found = find_conversation(request, slug, conversation)
    response: HttpResponse
    match request.GET.get("format", "markdown"):
        case "markdown":
            ending = "md"
            response = HttpResponse(markdown(found), content_type="text/markdown; charset=utf-8")
        case "json":
            ending = "json"
            response = JsonResponse(document(found), json_dumps_params={"ensure_ascii": False})
        case _:
            text = "format: use markdown or json."
            return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    name = quote(export_name(found, ending), safe="")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    return response


@require_safe
@never_cache
def usage(request: HttpRequest, slug: str, conversation: UUID) -> JsonResponse:
    """Return how much of the model's context window the conversation uses. Raises Http404 if the
    visitor has no such conversation.
    """
    return JsonResponse(context_usage(find_conversation(request, slug, conversation)))


def announce(conversation: Conversation) -> None:
    """Notify the owner's other open pages that the conversation list has changed."""
    async_to_sync(announce_growth)(person_stream(conversation.owner))


@require_safe
def application_icon(request: HttpRequest, name: str) -> HttpResponse:
    """Return the uploaded application icon with this name. Raises Http404 if it does not exist."""
    content = image_of(name)
    if content is None:
        raise Http404("This image does not exist.")
    answer = HttpResponse(content, content_type=MEDIA_TYPES[name.rpartition(".")[2]])
    answer["Content-Security-Policy"] = LOCKED
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "public, max-age=31536000, immutable"
    return answer
