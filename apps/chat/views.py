"""The pages: applications, a new conversation, an earlier one; rename, download and delete."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.addresses import address_of
from apps.accounts.caller import Caller
from apps.accounts.sender_headers import locale_of
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.resolve import resolve
from apps.chat import arrangement, rail
from apps.chat.access import (
    VISITOR,
    adopt,
    bucket_of,
    caller_of,
    own,
    person_stream,
    record_denial,
    under,
    why_ended,
)
from apps.chat.context_use import usage_of
from apps.chat.export import document, file_name, markdown
from apps.chat.frames import MOST_ATTACHMENTS
from apps.chat.listing import LISTED_CONVERSATIONS
from apps.chat.memory_listing import remembering
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, PinnedApplication
from apps.chat.notes.quotes import quote_of
from apps.chat.request_access import are_shown
from apps.chat.templatetags.tiles import tile
from apps.errors import ApplicationBroken, ApplicationNotFound, PlaceNotFound
from apps.live.notifications import announce_growth
from apps.manifest.chat_place import ChatPlace
from apps.manifest.manifest import ConversationStarters, Manifest
from apps.manifest.narrative import LONGEST_NARRATIVE
from apps.notes.spaces import space_of
from apps.workspace.local.remembered import settings_of

LONGEST_TITLE = 200
LONGEST_ADDRESSED = 8001
"""Characters of a question in an address: one more than the page takes, which then says so."""
SEEN = "seen"


def visitor(request: HttpRequest) -> Caller:
    """The caller of a page; a browser without a session gets one."""
    session = request.session
    # The user first: looking up one who has a new password empties the session of the old one.
    if not request.user.is_authenticated and not session.session_key:
        session.create()
    locale = locale_of(request.headers.get(settings.PROXY_LANGUAGE_HEADER, ""))
    caller = replace(caller_of(request.user, session, locale), address=address_of(request))
    if caller.kind == "visitor":
        session_key: str = session.session_key or ""
        today = timezone.now().date().isoformat()
        if session.get(SEEN) != today:  # a session that is used does not expire
            session[SEEN] = today
            session[VISITOR] = bucket_of(session_key)
    elif VISITOR in session:
        adopt(session.pop(VISITOR), caller)
    return caller


@require_safe
@never_cache
@ensure_csrf_cookie
def index(request: HttpRequest) -> HttpResponse:
    """With `q`, a question for one of them: the page of `app` takes it at once, and sends nothing."""
    caller = visitor(request)
    applications = usable(caller).only("slug", "title", "description", "icon")
    question = request.GET.get("q", "")[:LONGEST_ADDRESSED].replace("\0", "").strip()
    if question and applications.filter(slug=request.GET.get("app", "")).exists():
        return redirect(
            f"{reverse('chat', args=[request.GET['app']])}?{urlencode({'q': question})}"
        )
    # Conversations of deleted applications are on no other page.
    earlier = own(caller).filter(application=None)[:LISTED_CONVERSATIONS]
    pinned = set(
        PinnedApplication.objects.filter(owner=caller.bucket).values_list("application", flat=True)
    )
    context = {
        "applications": applications,
        "pinned": [one for one in applications if one.pk in pinned],
        "others": [one for one in applications if one.pk not in pinned],
        "recent": rail.rows_of(caller, rail.recent(caller)),
        "earlier": by_application(earlier),
        "question": question,
    }
    return render(request, "chat/index.html", context)


def by_application(conversations: Iterable[Conversation]) -> list[list[Conversation]]:
    """Conversations in their order, grouped by their deleted application."""
    found: dict[int | None, list[Conversation]] = {}
    for conversation in conversations:
        found.setdefault(conversation.former_application, []).append(conversation)
    return list(found.values())


@require_safe
@never_cache
@ensure_csrf_cookie
def chat(request: HttpRequest, slug: str, conversation: UUID | None = None) -> HttpResponse:
    caller = visitor(request)
    page = page_of(request, caller, slug, conversation)
    context = {
        **page,
        "page_data": data_of(page),
        "rail": rail.first_page(caller),
        "rail_applications": rail.applications(caller, usable(caller)),
    }
    return render(request, "chat/chat.html", context)


@require_safe
@never_cache
def page_data(request: HttpRequest, slug: str, conversation: UUID | None = None) -> JsonResponse:
    """What a page that is open already needs to show another conversation."""
    caller = visitor(request)
    return JsonResponse(data_of(page_of(request, caller, slug, conversation)))


def data_of(page: Mapping[str, Any]) -> dict[str, Any]:
    """What the scripts of the page are told."""
    place = page["place"]
    return {
        "attributes": page["attributes"],
        "starters": page["starters"],
        "memory": page["memory"],
        "place": None if place is None else place.title,
    }


def page_of(
    request: HttpRequest, caller: Caller, slug: str, conversation: UUID | None
) -> dict[str, Any]:
    """What differs between conversations. Raises Http404."""
    former = find_former(caller, slug, conversation) if conversation is not None else None
    if former is not None:
        application = Application(slug=former.former_slug, title=former.former_title)
        mine = own(caller).filter(former_application=former.former_application)
    else:
        application = find_application(caller, slug)
        mine = own(caller).filter(application=application)
    if conversation is not None and not mine.filter(pk=conversation).exists():
        record_denial(caller, conversation, slug)
        raise Http404("There is no such conversation.")
    manifest = find_manifest(slug) if former is None else None
    place = find_place(slug, request.GET.get("place", "")) if manifest is not None else None
    page = {
        "application": application,
        "ended": why_ended(former) if former is not None else "",
        "starters": starters(manifest),
        "conversation_id": None if conversation is None else str(conversation),
        "text_limit": settings.CHAT_MAX_QUESTION_CHARS,
        "socket_path": f"/ws/chat/{slug}/",
        "upload_limit": settings.DEFAULT_FILE_LOADING_SIZE_LIMIT,
        "upload_types": ",".join(upload_types(manifest)),
        "upload_most": MOST_ATTACHMENTS,
        "scripts": settings.CHAT_SCRIPTS,
        "shows_requests": are_shown(),
        "place": place,
        "narrative": request.GET.get("narrative", "")[:LONGEST_NARRATIVE],
        "memory": None if former is not None else memory_switch(caller, application, conversation),
        "has_notes": keeps_notes(manifest) and space_of(caller) is not None,
        "draft": quote_of(caller, request.GET.get("note", "")) if manifest is not None else "",
    }
    return {**page, "attributes": attributes_of(page)}


def attributes_of(page: Mapping[str, Any]) -> dict[str, str]:
    """The data attributes of the page's main element, which its scripts read."""
    application = page["application"]
    return {
        "title": application.title,
        "description": application.description,
        **{name: str(value) for name, value in tile(application).items()},
        "address": reverse("chat", args=(application.slug,)),
        "application": application.slug,
        "ended": page["ended"],
        "feedback": "" if page["ended"] else "yes",
        "conversation": page["conversation_id"] or "",
        "requests": "yes" if page["shows_requests"] else "",
        "place": "" if page["place"] is None else page["place"].slug,
        "narrative": page["narrative"],
        "draft": page["draft"],
        "notes": reverse("note-links") if page["has_notes"] else "",
        "socket": page["socket_path"],
        "text-limit": str(page["text_limit"] or 0),
        "upload-limit": str(page["upload_limit"]),
        "upload-types": page["upload_types"],
        "upload-most": str(page["upload_most"]),
    }


def keeps_notes(manifest: Manifest | None) -> bool:
    """Whether the application's agent knows the notes of the person."""
    features = manifest.features if manifest is not None else None
    return features is not None and features.notes is not None and features.notes.enabled


def memory_switch(
    caller: Caller, application: Application, conversation: UUID | None
) -> bool | None:
    """Whether the conversation has memory; None where there is none to be switched."""
    if caller.user_id is None or not settings_of(caller.user_id).is_enabled:
        return None
    if not remembering(caller).filter(pk=application.pk).exists():
        return None
    if conversation is None:
        return True
    return own(caller).filter(pk=conversation, has_memory=True).exists()


@require_POST
def rename(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Raises Http404 for a conversation that is not the visitor's."""
    found = find_conversation(request, slug, conversation)
    title = " ".join(request.POST.get("title", "").replace("\0", "").split())
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
    arrangement.delete(visitor(request), found, slug)
    announce(found)
    return redirect("index") if found.application_id is None else redirect("chat", slug)


@require_safe
@never_cache
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


def find_application(caller: Caller, slug: str) -> Application:
    return get_object_or_404(usable(caller), slug=slug)


def find_conversation(request: HttpRequest, slug: str, conversation: UUID) -> Conversation:
    caller = visitor(request)
    found = own(caller).filter(under(slug), pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, slug)
        raise Http404("There is no such conversation.")
    return found


def find_former(caller: Caller, slug: str, conversation: UUID) -> Conversation | None:
    """A conversation whose application was deleted; its address has not changed."""
    return own(caller).filter(application=None, former_slug=slug, pk=conversation).first()


def find_manifest(slug: str) -> Manifest | None:
    """None while it is broken."""
    try:
        return async_to_sync(resolve)(slug).manifest
    except (ApplicationBroken, ApplicationNotFound):
        return None


def find_place(application: str, slug: str) -> ChatPlace | None:
    """The place that an address names, None for "". Raises Http404 for an unknown one."""
    try:
        return async_to_sync(resolve)(application).place(slug)
    except PlaceNotFound as error:
        raise Http404(str(error)) from error


def upload_types(manifest: Manifest | None) -> Sequence[str]:
    """Those of the application, else those of the installation; empty for any."""
    return (manifest and manifest.input_attachment_types) or settings.CHAT_UPLOAD_TYPES


def starters(manifest: Manifest | None) -> dict[str, Any]:
    """The starters of a new conversation."""
    if manifest is None:
        return NO_STARTERS
    offered = manifest.conversation_starters
    if offered is None:
        old = [{"title": text, "text": text} for text in manifest.starters or ()]
        return {**NO_STARTERS, "starters": old}
    return offered.model_dump(mode="json", include=set(NO_STARTERS))


NO_STARTERS = ConversationStarters.model_construct(starters=()).model_dump(mode="json")
