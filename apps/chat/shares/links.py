"""Links are made, listed, revoked and followed."""

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
from apps.accounts.buckets import place_of
from apps.accounts.caller import Caller
from apps.accounts.teams import may_work_in
from apps.catalog.models import Application
from apps.chat.models import Conversation
from apps.chat.page_data import find_manifest
from apps.chat.shares.models import Share, new_token
from apps.chat.shares.snapshot import SharedFiles, shared_runs, taken
from apps.errors import Refused, TooLarge

MOST_LINKS = 100
"""That one person has at a time, of all conversations where they work now."""
MOST_BYTES = 4 * 1024 * 1024
"""Of the turns of one link as JSON: some 500 long answers, or 50 with many steps."""
DAYS = {"1": 1, "7": 7, "30": 30, "never": None}
AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class ShareWishes:
    """What its owner has chosen for a link; `days` None: it does not expire."""

    with_steps: bool
    with_files: bool
    audience: str
    days: int | None

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "ShareWishes":
        """Raises `Refused`, which names the field."""
        audience, days = given.get("audience", "people"), given.get("expires", "7")
        if audience not in Share.Audience.values:
            raise Refused("bad_request", "audience: write people or anyone.")
        if days not in DAYS:
            raise Refused("bad_request", f"expires: write {', '.join(DAYS)}.")
        steps, files = given.get("steps") == "true", given.get("files") == "true"
        return cls(steps, files, audience, DAYS[days])


def own_shares(caller: Caller) -> QuerySet[Share]:
    """The links of a person where they work now, without what is read under them."""
    rows = Share.objects.live().filter(owner=caller.bucket).defer("turns", "files")
    return rows.select_related("conversation__application")


def allows_anyone(application: Application | None) -> bool:
    """Whether people who are not signed in may read what is shared of an application."""
    if not settings.SHARES_FOR_ANYONE or application is None or not application.is_enabled:
        return False
    manifest = find_manifest(application.slug)
    features = manifest.features if manifest is not None else None
    return features is not None and features.sharing is not None and features.sharing.with_anyone


def create(user: User, caller: Caller, conversation: Conversation, wishes: ShareWishes) -> Share:
    """Make a link to the conversation as it is now. Raises `Refused`."""
    if wishes.audience == Share.Audience.ANYONE and not allows_anyone(conversation.application):
        raise Refused("bad_request", "audience: only people who are signed in may read this one.")
    if conversation.temporary_until is not None:
        raise Refused(
            "bad_request", gettext("A temporary conversation is not shared. Keep it first.")
        )
    runs = shared_runs(conversation)
    if not runs:
        raise Refused("bad_request", gettext("There is no answer to share yet."))
    token = new_token()
    shared = SharedFiles(caller.bucket, token, wishes.with_files)
    turns = []
    left = MOST_BYTES
    for turn in taken(conversation, runs, shared, with_steps=wishes.with_steps):
        left -= len(json.dumps(turn, ensure_ascii=False).encode("utf-8", "replace"))
        if left < 0:
            if wishes.with_steps:
                advice = gettext("Share it without steps.")
            elif wishes.with_files:
                advice = gettext("Share it without files.")
            else:
                advice = gettext("Download it instead.")
            raise TooLarge(
                "too_large",
                f"{gettext('This conversation is too long for a link.')} {advice}",
            )
        turns.append(turn)
    days = wishes.days
    row = Share(
        token=token,
        conversation=conversation,
        user=user,
        owner=caller.bucket,
        title=conversation.title,
        turns=turns,
        files=shared.found,
        with_steps=wishes.with_steps,
        with_files=wishes.with_files,
        audience=wishes.audience,
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    keep(row)
    record(caller, row, "access.granted")
    return row


@transaction.atomic
def keep(row: Share) -> None:
    """Raises `Refused` when its owner has too many."""
    # Locked, so that of two at once the second one counts the first.
    User.objects.select_for_update().get(pk=row.user_id)
    if Share.objects.live().filter(owner=row.owner).count() >= MOST_LINKS:
        raise Refused(
            "too_many",
            gettext("You have {most_links} links; revoke one first.").format(most_links=MOST_LINKS),
        )
    row.save(force_insert=True)


def revoke(caller: Caller, row: Share) -> None:
    record(caller, row, "access.revoked")
    row.delete()


def record(caller: Caller, row: Share, event: audit.Event) -> None:
    """Note in the audit who gave or took away the link, or read under it."""
    slug = row.conversation.application_slug
    subject = f"link {row.pk} for {row.audience}"
    audit.record(
        AuditEvent(event, caller.bucket, caller.address, slug, row.conversation_id, subject=subject)
    )


def find(token: str, reader: User | AnonymousUser) -> Share | None:
    """The link that a reader follows; None for one that is unknown, over, or not for them."""
    rows = Share.objects.live().select_related("conversation__application", "user")
    # A file needs no turns, which may be long.
    row = rows.defer("turns").filter(token=token).first()
    if row is None or not is_given(row):
        return None
    if reader.is_authenticated:
        return row
    is_for_all = row.audience == Share.Audience.ANYONE
    return row if is_for_all and allows_anyone(row.conversation.application) else None


def is_given(row: Share) -> bool:
    """Whether the person who shared it could do so now: their account is open, and they are in the team."""
    place = place_of(row.owner)
    return place is not None and may_work_in(row.user, place[1])


def described(row: Share, address: str) -> dict[str, Any]:
    """What the page tells the owner of a link; `address` is the whole one."""
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
    """Delete the links whose time is over; how many."""
    late = Share.objects.filter(expires_at__lte=timezone.now())
    erased = 0
    while keys := list(late.values_list("pk", flat=True)[:AT_ONCE]):
        erased += Share.objects.filter(pk__in=keys).delete()[0]
    return erased
