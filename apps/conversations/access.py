"""Finds the conversations that a caller can access, and rebuilds the caller of a stored run."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID, uuid5

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from apps import tracing
from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.authentication import find_holder_of
from apps.accounts.caller import Caller, ClientInfo, Credentials, of_person
from apps.accounts.teams import may_work_in
from apps.catalog.access import usable
from apps.conversations.files.folder import folder_of
from apps.conversations.models import Conversation
from apps.errors import Gone, Missing, Refused
from apps.live.models import Run

NOT_FOUND = "conversation_not_found"
PERSONS = UUID("5f3f0a52-6f0e-4d39-9a0b-6f1a5d0a7c11")
"""The namespace of the UUIDs that `person_stream` derives from owners' buckets."""


def person_stream(bucket: str) -> UUID:
    """Return the ID of the notification stream for changes to an owner's conversations."""
    return uuid5(PERSONS, bucket)


OF_CLIENT = ("locale", "timezone", "surface", "address")
"""The fields of `ClientInfo` that a run stores."""


def reference_of(caller: Caller) -> dict[str, Any]:
    """Return the JSON that a run stores about its caller, in addition to the bucket.
    `caller_of_run` rebuilds the caller from it.
    """
    client = caller.client
    told = {
        "kind": caller.kind,
        "user_id": caller.user_id,
        "team": caller.team,
        "locale": client.locale,
        "timezone": client.timezone,
        "surface": client.surface,
        "request_id": tracing.request_id(),
    }
    if caller.kind == "visitor":
        told["address"] = client.address  # Rate limits need it even while the run is waiting.
    return told


def caller_of_run(run: Run) -> Caller:
    """Return the caller on whose behalf the run acts. Raises `Refused` if the account is closed,
    the user has left the team, or the API key is no longer valid.
    """
    folder, team = folder_of(run.stream), run.caller.get("team")
    client = ClientInfo(**{name: run.caller[name] for name in OF_CLIENT if name in run.caller})
    if run.caller["kind"] == "key":
        holder = find_holder_of(run.bucket.removeprefix("key-"))
        if holder is None:
            raise Refused(
                "no_key",
                gettext("The API key that was used to send the question is no longer valid."),
            )
        return holder.caller(run.bucket, client, Credentials(), folder)
    number = run.caller["user_id"]
    if number is not None:
        user = get_user_model().objects.filter(pk=number, is_active=True).first()
        if user is None:
            raise Refused(
                "no_account",
                gettext(
                    "The account of the user who sent the question was deactivated or deleted."
                ),
            )
        if not may_work_in(user, team):
            raise Refused(
                "no_team", gettext("The user who sent the question is no longer in the team.")
            )
    return Caller(run.bucket, run.caller["kind"], number, folder=folder, team=team, client=client)


def own(caller: Caller) -> QuerySet[Conversation]:
    """Return the caller's conversations, except deleted conversations."""
    return Conversation.objects.undeleted().filter(owner=caller.bucket)


def own_lasting(caller: Caller) -> QuerySet[Conversation]:
    """Return the caller's conversations, except deleted and temporary conversations."""
    return Conversation.objects.lasting().filter(owner=caller.bucket)


def owned_by(user: int) -> Q:
    """Return a filter for rows that the user owns, in their own workspace or in a team."""
    return of_person(user, "owner")


def mark_read(conversation: UUID) -> None:
    Conversation.objects.filter(pk=conversation, is_unread=True).update(is_unread=False)


def under(slug: str) -> Q:
    """Return a filter for conversations of the application with this slug, even if the application
    was deleted.
    """
    return Q(application__slug=slug) | Q(application=None, former_slug=slug)


def find_conversation(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """Return the caller's conversation with this ID. Raises `Missing` if there is none, or if its
    application has another slug.
    """
    found = own(caller).filter(under(application), pk=conversation).first()
    if found is None:
        record_denial(caller, conversation, application)
        raise Missing(NOT_FOUND, gettext("This conversation does not exist."))
    return found


def lock(conversation: Conversation) -> Conversation:
    """Lock the conversation's row until the transaction ends, and return its current content.
    Raises `Missing` if it was deleted.
    """
    rows = Conversation.objects.select_for_update(of=("self",))
    found = rows.filter(pk=conversation.pk).first()
    if found is None:
        raise Missing(NOT_FOUND, gettext("This conversation does not exist."))
    return found


def record_denial(caller: Caller, conversation: UUID, application: str) -> None:
    """Write an audit event about the denied access, if the requested conversation exists."""
    if Conversation.objects.filter(pk=conversation).exists():
        denied = AuditEvent(
            "access.denied", caller.bucket, caller.client.address, application, conversation
        )
        audit.record(denied)


def record_denials(caller: Caller, conversations: Collection[UUID]) -> None:
    """Write an audit event for each of these conversations that belongs to another user."""
    if not conversations:
        return
    foreign = Conversation.objects.filter(pk__in=conversations).exclude(owner=caller.bucket)
    address = caller.client.address
    audit.record(
        *(
            AuditEvent("access.denied", caller.bucket, address, row.application_slug, row.pk)
            for row in foreign.select_related("application")
        )
    )


def find_open(caller: Caller, conversation: UUID, application: str) -> Conversation:
    """Return the caller's conversation with this ID.

    Raises `Refused` if there is no such conversation or its application was deleted. Does not check
    whether the caller can still use the application; see `check_continuable`.
    """
    found = find_conversation(caller, conversation, application)
    if found.application_id is None:
        raise Gone("application_deleted", why_ended(caller, found))
    return found


def check_continuable(caller: Caller, conversation: UUID, application: str) -> None:
    """Raise `Refused` if the caller has no such conversation or can no longer use its
    application.
    """
    found = find_open(caller, conversation, application)
    if reason := why_ended(caller, found):
        raise Gone("application_unavailable", reason)


def continuable(caller: Caller, conversations: Iterable[Conversation]) -> set[int]:
    """Return the primary keys of the applications with which the caller can continue these
    conversations.
    """
    asked = {one.application_id for one in conversations if one.application_id is not None}
    return set(usable(caller).filter(pk__in=asked).values_list("pk", flat=True)) if asked else set()


def why_ended(caller: Caller, conversation: Conversation) -> str:
    """Return why the caller can read but not continue the conversation. Return "" if the caller can
    continue it.
    """
    application = conversation.application
    if application is None or application.archived_at is not None:
        reason = gettext(
            "The app “{former_title}” is no longer available. You can still read, download or delete this conversation, or continue it in another app."
        )
    elif continuable(caller, [conversation]):
        return ""
    else:
        reason = gettext(
            "The app “{former_title}” isn’t available to you. You can still read, download or delete this conversation, or continue it in another app."
        )
    return reason.format(former_title=conversation.application_title)
