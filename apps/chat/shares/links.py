"""Creates, finds and revokes links to shared conversations."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller, owner_ids
from apps.accounts.teams import may_work_in
from apps.catalog.models import Application
from apps.chat.pages.data import find_manifest
from apps.chat.shares.models import Share, new_token
from apps.chat.shares.snapshot import SnapshotFiles, shared_runs, snapshot_turns
from apps.conversations.models import Conversation
from apps.errors import Refused, TooLarge

MOST_LINKS = 100
"""The maximum number of active links that a user can have in each team and in their own workspace.
"""
MOST_BYTES = 4 * 1024 * 1024
"""The maximum size of a link's turns as JSON, enough for about 500 long answers, or 50 answers with
many steps.
"""
DAYS = {"1": 1, "7": 7, "30": 30, "never": None}
AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class ShareOptions:
    """The options for a new link. `days` is None for a link that does not expire."""

    with_steps: bool
    with_files: bool
    audience: str
    days: int | None

    @classmethod
    def read(cls, form: Mapping[str, str]) -> "ShareOptions":
        """Read the options from a form. Raises `Refused` with the name of the invalid field."""
        audience, days = form.get("audience", "people"), form.get("expires", "7")
        if audience not in Share.Audience.values:
            raise Refused("bad_request", "audience: use people or anyone.")
        if days not in DAYS:
            raise Refused("bad_request", f"expires: use one of {', '.join(DAYS)}.")
        steps, files = form.get("steps") == "true", form.get("files") == "true"
        return cls(steps, files, audience, DAYS[days])


def own_shares(caller: Caller) -> QuerySet[Share]:
    """Return the caller's active links in the current team, without their content."""
    rows = Share.objects.live().filter(owner=caller.bucket).defer("turns", "files")
    return rows.select_related("conversation__application")


def allows_anyone(application: Application | None) -> bool:
    """Return True if conversations with this application can be shared with anyone, including
    signed-out readers.
    """
    if not settings.SHARES_FOR_ANYONE or application is None or not application.is_enabled:
        return False
    manifest = find_manifest(application.slug)
    features = manifest.features if manifest is not None else None
    return features is not None and features.sharing is not None and features.sharing.with_anyone


def create(user: User, caller: Caller, conversation: Conversation, options: ShareOptions) -> Share:
    """Create a link to the current state of the conversation, and return it.

    Raises `Refused` if the conversation is temporary, unanswered or too long, if the audience is
    not allowed, or if the user has too many links.
    """
    if options.audience == Share.Audience.ANYONE and not allows_anyone(conversation.application):
        raise Refused(
            "bad_request", "audience: only signed-in users can read this conversation; use people."
        )
    if conversation.temporary_until is not None:
        raise Refused("bad_request", gettext("A temporary chat can’t be shared. Save it first."))
    runs = shared_runs(conversation)
    if not runs:
        raise Refused(
            "bad_request",
            gettext("There is no answer to share yet. Try again after the first answer."),
        )
    token = new_token()
    shared = SnapshotFiles(caller.bucket, token, options.with_files)
    turns = []
    left = MOST_BYTES
    for turn in snapshot_turns(conversation, runs, shared, with_steps=options.with_steps):
        left -= len(json.dumps(turn, ensure_ascii=False).encode("utf-8", "replace"))
        if left < 0:
            if options.with_steps:
                advice = gettext("Share the conversation without steps.")
            elif options.with_files:
                advice = gettext("Share the conversation without files.")
            else:
                advice = gettext("Download the conversation instead.")
            problem = gettext("This conversation is too long to share with a link.")
            raise TooLarge("too_large", f"{problem} {advice}")
        turns.append(turn)
    days = options.days
    row = Share(
        token=token,
        conversation=conversation,
        user=user,
        owner=caller.bucket,
        title=conversation.title,
        turns=turns,
        files=shared.found,
        with_steps=options.with_steps,
        with_files=options.with_files,
        audience=options.audience,
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    store_link(row)
    record(caller, row, "access.granted")
    return row


@transaction.atomic
def store_link(row: Share) -> None:
    """Store a new link. Raises `Refused` if its owner already has `MOST_LINKS` active links."""
    # Lock the user's row, so that concurrent requests count each other's links.
    User.objects.select_for_update().get(pk=row.user_id)
    if Share.objects.live().filter(owner=row.owner).count() >= MOST_LINKS:
        raise Refused(
            "too_many",
            gettext("You have {most_links} links, which is the limit. Revoke one first.").format(
                most_links=MOST_LINKS
            ),
        )
    row.save(force_insert=True)


def revoke(caller: Caller, row: Share) -> None:
    record(caller, row, "access.revoked")
    row.delete()


def record(caller: Caller, row: Share, event: audit.Event) -> None:
    """Write an audit event about a link that was created, revoked or opened."""
    slug = row.conversation.application_slug
    readers = "anyone" if row.audience == Share.Audience.ANYONE else "signed-in users"
    subject = f"link {row.pk} for {readers}"
    audit.record(
        AuditEvent(
            event, caller.bucket, caller.client.address, slug, row.conversation_id, subject=subject
        )
    )


def find(token: str, reader: User | AnonymousUser) -> Share | None:
    """Return the link with this token, or None if it does not exist, has expired or is not meant
    for this reader.
    """
    rows = Share.objects.live().select_related("conversation__application", "user")
    # The turns can be large, and a request for a file does not need them.
    row = rows.defer("turns").filter(token=token).first()
    if row is None or not is_sharer_active(row):
        return None
    if reader.is_authenticated:
        return row
    is_for_all = row.audience == Share.Audience.ANYONE
    return row if is_for_all and allows_anyone(row.conversation.application) else None


def is_sharer_active(row: Share) -> bool:
    """Return True if the user who shared the conversation is active and can still access the
    conversation's workspace.
    """
    place = owner_ids(row.owner)
    return place is not None and may_work_in(row.user, place[1])


def describe_link(row: Share, address: str) -> dict[str, Any]:
    """Return a link as JSON for the sharing dialog. `address` is its full URL."""
    return {
        "id": row.pk,
        "address": address,
        "title": row.title,
        "steps": row.with_steps,
        "files": row.with_files,
        "audience": row.audience,
        "created_at": row.created_at.isoformat(),
        "expires_at": None if row.expires_at is None else row.expires_at.isoformat(),
    }


def erase_expired() -> int:
    late = Share.objects.filter(expires_at__lte=timezone.now())
    erased = 0
    while keys := list(late.values_list("pk", flat=True)[:AT_ONCE]):
        erased += Share.objects.filter(pk__in=keys).delete()[0]
    return erased
