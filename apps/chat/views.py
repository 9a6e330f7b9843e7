"""The pages: applications, a new conversation, an earlier one; rename, download and delete."""

from collections.abc import Iterable
from urllib.parse import quote, urlencode
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from apps.catalog.access import usable
from apps.chat import arrangement, rail
from apps.chat.access import own_lasting, person_stream, why_ended
from apps.chat.context_use import usage_of
from apps.chat.export import document, file_name, markdown
from apps.chat.listing import LISTED_CONVERSATIONS
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, PinnedApplication
from apps.chat.page_data import data_of, page_of
from apps.chat.visitors import ConversationMoved, find_conversation, visitor, with_sign_in
from apps.live.notifications import announce_growth

LONGEST_TITLE = 200
LONGEST_ADDRESSED = 8001
"""Characters of a question in an address: one more than the page takes, which then says so."""


@require_safe
@never_cache
@ensure_csrf_cookie
def index(request: HttpRequest) -> HttpResponse:
    """With `q`, a question for one of them: the page of `app` takes it at once, and sends nothing."""
    caller = visitor(request)
    applications = usable(caller).only("slug", "title", "description", "icon")
    question = request.GET.get("q", "")[:LONGEST_ADDRESSED].strip()
    if question and applications.filter(slug=request.GET.get("app", "")).exists():
        return redirect(
            f"{reverse('chat', args=[request.GET['app']])}?{urlencode({'q': question})}"
        )
    earlier = own_lasting(caller).exclude(application__in=usable(caller).values("pk"))
    earlier = earlier.select_related("application")[:LISTED_CONVERSATIONS]
    pinned = set(
        PinnedApplication.objects.filter(owner=caller.bucket).values_list("application", flat=True)
    )
    context = {
        "applications": applications,
        "pinned": [one for one in applications if one.pk in pinned],
        "others": [one for one in applications if one.pk not in pinned],
        "recent": rail.recent_rows(caller),
        "earlier": by_application(earlier),
        "question": question,
    }
    return render(request, "chat/index.html", context)


def by_application(conversations: Iterable[Conversation]) -> list[list[Conversation]]:
    """Conversations in their order, grouped by their application."""
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
        page = page_of(request, caller, slug, conversation)
    except ConversationMoved as moved:
        return redirect("conversation", moved.slug, conversation)
    context = {
        **page,
        "page_data": data_of(page),
        "rail": rail.first_page(caller),
        "rail_applications": rail.applications(caller),
    }
    return render(request, "chat/chat.html", context)


@require_safe
@never_cache
def page_data(request: HttpRequest, slug: str, conversation: UUID | None = None) -> JsonResponse:
    """What a page that is open already needs to show another conversation."""
    caller = visitor(request)
    return JsonResponse(data_of(page_of(request, caller, slug, conversation)))


@require_POST
def rename(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Raises Http404 for a conversation that is not the visitor's."""
    found = find_conversation(request, slug, conversation)
    title = " ".join(request.POST.get("title", "").split())
    if not title or len(title) > LONGEST_TITLE:
        text = f"title: write 1 to {LONGEST_TITLE} characters."
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    arrangement.change(found, title=title)
    mirror(found.pk)
    announce(found)
    return redirect("conversation", slug, conversation)


@require_POST
def delete(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Hide a conversation, and erase it after a while; an answer that is being written in it stops."""
    found = find_conversation(request, slug, conversation)
    caller = visitor(request)
    arrangement.delete(caller, found, slug)
    announce(found)
    return redirect("index") if why_ended(caller, found) else redirect("chat", slug)


@require_POST
def keep(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Let a temporary conversation be one as any other."""
    found = find_conversation(request, slug, conversation)
    arrangement.keep(found)
    announce(found)
    return redirect("conversation", slug, conversation)


@require_safe
@never_cache
@with_sign_in
def download(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """The shown path as Markdown, or with `?format=json` the whole tree.

    Raises Http404 for a conversation that is not the visitor's.
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
            text = "format: write markdown or json."
            return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    name = quote(file_name(found, ending), safe="")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    return response


@require_safe
@never_cache
def usage(request: HttpRequest, slug: str, conversation: UUID) -> JsonResponse:
    """How full the model's window is. Raises Http404 for a conversation that is not the visitor's."""
    return JsonResponse(usage_of(find_conversation(request, slug, conversation)))


def announce(conversation: Conversation) -> None:
    """Tell the owner's other pages that their list has changed."""
    async_to_sync(announce_growth)(person_stream(conversation.owner))
