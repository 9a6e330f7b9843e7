"""Conversations of a team that others may read: as far as the team was open when they began.

Nobody but the author goes on with them, renames or deletes them. Each reading is in the audit.
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
from apps.accounts.buckets import place_of
from apps.accounts.caller import Caller
from apps.accounts.models import Team
from apps.accounts.permissions import has_permission
from apps.accounts.teams import administers
from apps.chat.access import record_denial
from apps.chat.branches import path
from apps.chat.file_views import show
from apps.chat.folders import folder_of
from apps.chat.left_out import left_out_of
from apps.chat.listing import LISTED_CONVERSATIONS
from apps.chat.models import Conversation
from apps.chat.senders import is_continuation
from apps.chat.visitors import visitor
from apps.errors import FileRefused
from apps.workspace.local import files
from apps.workspace.local.paths import write_path

MEMBERS, ADMINISTRATORS = Team.Visibility.MEMBERS, Team.Visibility.ADMINISTRATORS


def readable(caller: Caller) -> QuerySet[Conversation]:
    """The conversations of others that a person may read in the team where they work."""
    if caller.user_id is None or caller.team is None:
        return Conversation.objects.none()
    rows = Conversation.objects.lasting().filter(team=caller.team).exclude(owner=caller.bucket)
    if has_permission(caller, "runs.read_run_contents"):
        return rows
    shown = Q(visibility=MEMBERS)
    if administers(caller.user_id, caller.team):
        shown |= Q(visibility=ADMINISTRATORS)
    return rows.filter(shown)


def author_of(conversation: Conversation) -> str:
    found = place_of(conversation.owner)
    user = get_user_model().objects.filter(pk=found[0]).first() if found is not None else None
    return (
        gettext("somebody who has no account any more")
        if user is None
        else str(user.get_username())
    )


@login_required
@require_safe
@never_cache
def conversations(request: HttpRequest) -> HttpResponse:
    """Raises Http404 for a person who works in no team."""
    caller = visitor(request)
    if caller.team is None:
        raise Http404("You work in no team now.")
    rows = list(readable(caller).select_related("application", "team")[:LISTED_CONVERSATIONS])
    authors = {row.owner: place_of(row.owner) for row in rows}
    people = {place[0] for place in authors.values() if place is not None}
    names = get_user_model().objects.in_bulk(people)
    entries = [
        {"row": row, "author": names.get(place[0]) if (place := authors[row.owner]) else None}
        for row in rows
    ]
    team = Team.objects.select_related("group").get(pk=caller.team)
    return render(request, "chat/team_conversations.html", {"entries": entries, "team": team})


@login_required
@require_safe
@never_cache
def conversation(request: HttpRequest, conversation: UUID) -> HttpResponse:
    """A conversation of another, to be read. Raises Http404 for one that may not be."""
    caller, found = opened(request, conversation)
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
        AuditEvent("contents.read", caller.bucket, caller.address, slug, found.pk, subject=file)
    )


def shown_file(found: Conversation, attachment: Mapping[str, Any]) -> dict[str, str]:
    """Its title, and the address where a reader finds it; "" for what is no file of theirs."""
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
    """A file of such a conversation."""
    caller, found = opened(request, conversation)
    path = write_path(found.owner, f"{folder_of(found.pk)}{name}")
    try:
        row = files.find(found.owner, path)
    except FileRefused:
        raise Http404("There is no such file.") from None
    record_reading(caller, found, name)
    return show(request, row)


def opened(request: HttpRequest, conversation: UUID) -> tuple[Caller, Conversation]:
    caller = visitor(request)
    found = readable(caller).select_related("application").filter(pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, "")
        raise Http404("There is no such conversation.")
    return caller, found
