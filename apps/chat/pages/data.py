"""Reads the data that the chat page shows about an application and a conversation.

The page's scripts request the data again when they switch to another conversation without a reload.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.capabilities.interpreter.user_code import can_run
from apps.catalog.models import Application
from apps.catalog.resolve import resolve_application
from apps.chat.account.sent_requests import are_shown
from apps.chat.imports.writer import SOURCES
from apps.chat.memory.listing import remembering
from apps.chat.notes.quotes import quote_of
from apps.chat.templatetags.tiles import tile
from apps.chat.visitors import conversation_of, find_application
from apps.conversations import temporary
from apps.conversations.access import own, why_ended
from apps.conversations.ask import MOST_ATTACHMENTS
from apps.conversations.files.refusals import names_of_types
from apps.conversations.keeping.retention import retention_words
from apps.conversations.models import Conversation
from apps.doors.read_only_notice import read_only_notice
from apps.errors import ApplicationBroken, ApplicationNotFound, PlaceNotFound
from apps.manifest.manifest import LONGEST_QUESTION, ConversationStarters, Manifest
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.narrative import LONGEST_NARRATIVE
from apps.notes.spaces import space_of
from apps.workspace.local.memories.remembered import settings_of


def conversation_data(
    request: HttpRequest, caller: Caller, slug: str, conversation: UUID | None
) -> dict[str, Any]:
    """Return the template context for a conversation, or for a new one if `conversation` is None.
    Raises Http404 if the caller cannot access the conversation or the application.
    """
    opened = None if conversation is None else conversation_of(caller, slug, conversation)
    ended = "" if opened is None else why_ended(caller, opened)
    if opened is not None and ended:
        application = as_read(opened)
    else:
        application = find_application(caller, slug)
    manifest = None if ended else find_manifest(slug)
    place = find_chat_place(slug, request.GET.get("place", "")) if manifest is not None else None
    page = {
        "application": application,
        "ended": ended,
        "studio": studio_url(request, application),
        "starters": starters(manifest),
        "conversation_id": None if conversation is None else str(conversation),
        "text_limit": LONGEST_QUESTION,
        "socket_path": f"/ws/chat/{slug}/",
        "upload_limit": settings.CHAT_UPLOAD_MAX_BYTES,
        "upload_types": ",".join(upload_types(manifest)),
        "upload_names": names_of_types(upload_types(manifest)),
        "upload_most": MOST_ATTACHMENTS,
        "scripts": settings.CHAT_SCRIPTS,
        "shows_requests": are_shown(),
        "place": place,
        "narrative": request.GET.get("narrative", "")[:LONGEST_NARRATIVE],
        "memory": None if ended else memory_switch(caller, application, conversation),
        "has_notes": uses_notes(manifest) and space_of(caller) is not None,
        "runs_code": manifest is not None and can_run(manifest),
        "keeping": conversation_notices(caller, manifest, opened),
        "draft": quote_of(caller, request.GET.get("note", "")) if manifest is not None else "",
    }
    return {**page, "attributes": attributes_of(page)}


def as_read(conversation: Conversation) -> Application:
    """Return an unsaved application for a read-only conversation, with the slug and title that are
    stored with the conversation.
    """
    row = conversation.application
    return Application(
        slug=conversation.application_slug,
        title=conversation.application_title,
        icon="" if row is None else row.icon,
    )


def studio_url(request: HttpRequest, application: Application) -> str:
    """Return the URL of the application's studio, or "" if the user cannot edit the application."""
    if not (application.pk and request.user.is_staff):
        return ""
    pages = admin.site.get_model_admin(Application)
    if not pages.has_change_permission(request, application):
        return ""
    return reverse("studio:page", args=(application.pk,))


def data_of(page: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the template context that the page's scripts need."""
    place = page["place"]
    return {
        "attributes": page["attributes"],
        "starters": page["starters"],
        "memory": page["memory"],
        "place": None if place is None else place.title,
        "keeping": page["keeping"],
    }


def attributes_of(page: Mapping[str, Any]) -> dict[str, str]:
    """Return the data attributes of the page's main element."""
    application = page["application"]
    return {
        "title": application.title,
        "description": application.description,
        **{name: str(value) for name, value in tile(application).items()},
        "address": reverse("chat", args=(application.slug,)),
        "application": application.slug,
        "ended": page["ended"],
        "studio": page["studio"],
        "feedback": "" if page["ended"] else "yes",
        "conversation": page["conversation_id"] or "",
        "requests": "yes" if page["shows_requests"] else "",
        "place": "" if page["place"] is None else page["place"].slug,
        "narrative": page["narrative"],
        "read-only": read_only_notice(),
        "draft": page["draft"],
        "notes": reverse("note-links") if page["has_notes"] else "",
        "runs-code": "yes" if page["runs_code"] else "",
        "socket": page["socket_path"],
        "text-limit": str(page["text_limit"] or 0),
        "upload-limit": str(page["upload_limit"]),
        "upload-types": page["upload_types"],
        "upload-names": page["upload_names"],
        "upload-most": str(page["upload_most"]),
    }


def conversation_notices(
    caller: Caller, manifest: Manifest | None, conversation: Conversation | None
) -> dict[str, Any]:
    """Return the page's notices about the conversation's import source and retention period."""
    kept = retention_words(manifest, caller.bucket)
    source = None if conversation is None else conversation.imported_from
    origin = (
        gettext("Imported from {sources}.").format(sources=SOURCES[source])
        if source in SOURCES
        else ""
    )
    return {
        "text": " ".join(filter(None, (origin, kept))),
        "temporary": temporary.words(),
        "is_temporary": conversation is not None and conversation.temporary_until is not None,
    }


def uses_notes(manifest: Manifest | None) -> bool:
    """Return True if the application can use the user's notes."""
    features = manifest.features if manifest is not None else None
    return features is not None and features.notes is not None and features.notes.enabled


def memory_switch(
    caller: Caller, application: Application, conversation: UUID | None
) -> bool | None:
    """Return whether the conversation uses memory, or None if the user cannot change this."""
    if caller.user_id is None or not settings_of(caller.user_id).is_enabled:
        return None
    if not remembering(caller).filter(pk=application.pk).exists():
        return None
    if conversation is None:
        return True
    return own(caller).filter(pk=conversation, has_memory=True).exists()


def find_manifest(slug: str) -> Manifest | None:
    """Return the application's manifest, or None if the application is missing or its manifest is
    invalid.
    """
    try:
        return async_to_sync(resolve_application)(slug).manifest
    except (ApplicationBroken, ApplicationNotFound):
        return None


def find_chat_place(application: str, slug: str) -> ChatPlace | None:
    """Return the chat place `slug` of the application, or None if `slug` is "". A chat place is
    part of the host application. Raises Http404 if the place does not exist.
    """
    try:
        return async_to_sync(resolve_application)(application).place(slug)
    except PlaceNotFound as error:
        raise Http404(str(error)) from error


def upload_types(manifest: Manifest | None) -> Sequence[str]:
    """Return the file types that can be uploaded. An empty sequence allows all types."""
    return manifest.input_attachment_types if manifest else ()


def starters(manifest: Manifest | None) -> dict[str, Any]:
    """Return the conversation starters of an application as JSON."""
    offered = manifest and manifest.offered_starters
    if offered is None:
        return NO_STARTERS
    return offered.model_dump(mode="json", include=set(NO_STARTERS))


NO_STARTERS = ConversationStarters.model_construct(starters=()).model_dump(mode="json")
