"""Deletes inactive conversations after the retention period of the application or the user.

The shorter period applies. The period begins with the last message, rename, move or import. The
user's period does not apply to pinned conversations.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from apps.accounts.caller import owner_ids
from apps.accounts.preferences import Preferences, preferences_of
from apps.catalog.models import Application
from apps.conversations.access import owned_by
from apps.conversations.keeping.arrangement import erase
from apps.conversations.models import Conversation
from apps.live.models import Run
from apps.manifest.features.conversations import Retention
from apps.manifest.manifest import Manifest

logger = logging.getLogger(__name__)


def erase_untouched() -> int:
    """Delete the conversations whose retention period has ended, and return their number."""
    return sum(map(erase, due()))


def due() -> Iterator[QuerySet[Conversation]]:
    for application, retention in retentions():
        if retention.days is None:
            continue
        rows = inactive_conversations(retention.days).filter(application=application)
        yield rows.filter(pinned_at=None) if retention.keep_pinned else rows
    chosen = Preferences.objects.filter(retention_days__isnull=False, user__is_active=True)
    for user, days in chosen.values_list("user", "retention_days"):
        if days:
            yield inactive_conversations(days).filter(owned_by(user), pinned_at=None)


def retentions() -> Iterator[tuple[int, Retention]]:
    """Yield the primary key and the retention settings of each application with a retention
    period.
    """
    rows = Application.objects.filter(manifest__features__retention__days__gte=1)
    for pk, written in rows.values_list("pk", "manifest__features__retention"):
        try:
            yield pk, Retention.model_validate(written)
        except ValueError:
            logger.warning("Ignored invalid retention settings of application %s", pk)


def inactive_conversations(days: int) -> QuerySet[Conversation]:
    """Return the conversations that have been inactive for this many days and have no active
    run.
    """
    limit = timezone.now() - timedelta(days=days)
    rows = Conversation.objects.filter(updated_at__lt=limit)
    rows = rows.filter(Q(arranged_at=None) | Q(arranged_at__lt=limit))
    return rows.exclude(pk__in=Run.objects.filter(status__in=Run.OPEN).values("stream"))


def retention_words(manifest: Manifest | None, bucket: str) -> str:
    """Return the page's text about the retention period, or "" if there is none. `bucket`
    identifies the user, whose own retention period is also considered.
    """
    features = manifest.features if manifest is not None else None
    retention = (features and features.retention) or Retention()
    days, own = retention.days, own_days(bucket)
    pinned = gettext("Pinned conversations are not deleted.")
    if days is not None and (own is None or days <= own):
        words = ngettext(
            "Conversations with this app are deleted after a day of inactivity.",
            "Conversations with this app are deleted after {days} days of inactivity.",
            days,
        ).format(days=days)
        return f"{words} {pinned}" if retention.keep_pinned else words
    if own is None:
        return ""
    words = ngettext(
        "You chose to delete conversations after a day of inactivity.",
        "You chose to delete conversations after {days} days of inactivity.",
        own,
    ).format(days=own)
    if days is None or retention.keep_pinned:
        return f"{words} {pinned}"
    longer = ngettext(
        "Pinned conversations are deleted after a day.",
        "Pinned conversations are deleted after {days} days.",
        days,
    )
    return f"{words} {longer.format(days=days)}"


def own_days(bucket: str) -> int | None:
    place = owner_ids(bucket)
    kept = None if place is None else preferences_of(place[0])
    return None if kept is None else kept.retention_days
