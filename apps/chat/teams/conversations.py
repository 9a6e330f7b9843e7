"""Shows a team's conversations to its members.

The team's visibility setting at the start of a conversation determines who can read the
conversation. Only the conversation's author can change or continue it. Each read is recorded in the
audit log.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller, owner_ids
from apps.accounts.models import Team
from apps.accounts.permissions import has_permission
from apps.accounts.persons import display_name
from apps.accounts.teams import administers
from apps.chat.file_views import show_file
from apps.chat.visitors import visitor
from apps.conversations.access import record_denial
from apps.conversations.branches import path
from apps.conversations.files.folder import folder_of
from apps.conversations.listing import LISTED_CONVERSATIONS
from apps.conversations.models import Conversation
from apps.conversations.senders import is_continuation
from apps.conversations.spoken import left_out_of
from apps.errors import FileRefused
from apps.live.sent_request_rows import READ_CONTENTS
from apps.workspace.local.files import files
from apps.workspace.local.files.paths import write_path

MEMBERS, ADMINISTRATORS = Team.Visibility.MEMBERS, Team.Visibility.ADMINISTRATORS


def readable(caller: Caller) -> QuerySet[Conversation]:
    """Return the conversations in the caller's current team that other members started and the
    caller can read.
    """
    if caller.user_id is None or caller.team is None:
        return Conversation.objects.none()
    rows = Conversation.objects.lasting().filter(team=caller.team).exclude(owner=caller.bucket)
    if has_permission(caller, READ_CONTENTS):
        return rows
    shown = Q(visibility=MEMBERS)
    if administers(caller.user_id, caller.team):
        shown |= Q(visibility=ADMINISTRATORS)
    return rows.filter(shown)


def author_of(conversation: Conversation) -> str:
    found = owner_ids(conversation.owner)
    user = get_user_model().objects.filter(pk=found[0]).first() if found is not None else None
    return gettext("a deleted user") if user is None else display_name(user)


@login_required
@require_safe
@never_cache
def conversations(request: HttpRequest) -> HttpResponse:
    """List the conversations of the current team. Raises Http404 if the user has not chosen a
    team.
    """
    caller = visitor(request)
    if caller.team is None:
        raise Http404("You are not in a team at the moment.")
    rows = list(readable(caller).select_related("application", "team")[:LISTED_CONVERSATIONS])
    authors = {row.owner: owner_ids(row.owner) for row in rows}
    people = {place[0] for place in authors.values() if place is not None}
    users = get_user_model().objects.filter(pk__in=people)
    names = {user.pk: display_name(user) for user in users}
    entries = [
        {"row": row, "author": names.get(place[0], "") if (place := authors[row.owner]) else ""}
        for row in rows
    ]
    team = Team.objects.get(pk=caller.team)
    return render(request, "chat/team_conversations.html", {"entries": entries, "team": team})


@login_required
@require_safe
@never_cache
def conversation(request: HttpRequest, conversation: UUID) -> HttpResponse:
    """Show another member's conversation. Raises Http404 if the user may not read it."""
    caller, found = open_conversation(request, conversation)
    record_reading(caller, found)
    context = {
        "conversation": found,
        "title": found.application_title,
        "author": author_of(found),
        "entries": [
            {
                "message": message,
                "files": [shown_file(found, one) for one in message.attachments],
                "left_out": left_out_of(message.state),
            }
            for message in path(found)
            if not is_continuation(message.sender)
        ],
    }
    return render(request, "chat/team_conversation.html", context)


def record_reading(caller: Caller, found: Conversation, file: str = "") -> None:
    slug = found.application_slug
    audit.record(
        AuditEvent(
            "contents.read", caller.bucket, caller.client.address, slug, found.pk, subject=file
        )
    )


def shown_file(found: Conversation, attachment: Mapping[str, Any]) -> dict[str, str]:
    """Return the attachment's title, and its URL for the reader. The URL is "" if the attachment is
    not one of the conversation's files.
    """
    folder = f"files/{found.owner}/{folder_of(found.pk)}"
    url = str(attachment.get("url") or "")
    title = str(attachment.get("title") or "") or gettext("File")
    if not url.startswith(folder):
        return {"title": title, "url": ""}
    address = reverse("team-conversation", args=(found.pk,))
    return {"title": title, "url": f"{address}files/{url.removeprefix(folder)}"}


@login_required
@require_safe
def file(request: HttpRequest, conversation: UUID, name: str) -> HttpResponseBase:
    """Return a file from another member's conversation. Raises Http404 if the user may not read
    it.
    """
    caller, found = open_conversation(request, conversation)
    path = write_path(found.owner, f"{folder_of(found.pk)}{name}")
    try:
        row = files.find_stored(found.owner, path)
    except FileRefused:
        raise Http404("This file does not exist.") from None
    record_reading(caller, found, name)
    return show_file(request, row)


def open_conversation(request: HttpRequest, conversation: UUID) -> tuple[Caller, Conversation]:
    caller = visitor(request)
    found = readable(caller).select_related("application").filter(pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, "")
        raise Http404("This conversation does not exist.")
    return caller, found
