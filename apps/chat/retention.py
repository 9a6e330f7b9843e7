"""How long conversations are kept: as an application says, and as their person wishes; the shorter wins.

The days count from when something was last written in a conversation, or it was renamed, moved or
imported. A person's own choice spares what they have pinned.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from apps.accounts.buckets import place_of
from apps.catalog.models import Application
from apps.chat.access import owned_by
from apps.chat.arrangement import erase
from apps.chat.composer.models import Preferences
from apps.chat.composer.preferences import preferences_of
from apps.chat.models import Conversation
from apps.live.models import Run
from apps.manifest.conversations import Retention
from apps.manifest.manifest import Manifest

logger = logging.getLogger(__name__)


def erase_untouched() -> int:
    """Delete the conversations whose days are over; how many."""
    return sum(map(erase, due()))


def due() -> Iterator[QuerySet[Conversation]]:
    for application, retention in retentions():
        if retention.days is None:
            continue
        rows = untouched(retention.days).filter(application=application)
        yield rows.filter(pinned_at=None) if retention.keep_pinned else rows
    chosen = Preferences.objects.filter(retention_days__isnull=False, user__is_active=True)
    for user, days in chosen.values_list("user", "retention_days"):
        if days:
            yield untouched(days).filter(owned_by(user), pinned_at=None)


def retentions() -> Iterator[tuple[int, Retention]]:
    """By the primary keys of the applications that say something."""
    rows = Application.objects.filter(manifest__features__retention__days__gte=1)
    for pk, written in rows.values_list("pk", "manifest__features__retention"):
        try:
            yield pk, Retention.model_validate(written)
        except ValueError:
            logger.warning("The retention of application %s cannot be read", pk)


def untouched(days: int) -> QuerySet[Conversation]:
    """Those that nothing was done with for so long, and that no answer is being written in."""
    limit = timezone.now() - timedelta(days=days)
    rows = Conversation.objects.filter(updated_at__lt=limit)
    rows = rows.filter(Q(arranged_at=None) | Q(arranged_at__lt=limit))
    return rows.exclude(pk__in=Run.objects.filter(status__in=Run.OPEN).values("stream"))


def retention_words(manifest: Manifest | None, bucket: str) -> str:
    """What the page says of it, "" if conversations stay."""
    features = manifest.features if manifest is not None else None
    retention = (features and features.retention) or Retention()
    days, own = retention.days, own_days(bucket)
    if days is not None and (own is None or days <= own):
        words = ngettext(
            "Conversations with this application are deleted after a day in which nothing was done "
            "with them.",
            "Conversations with this application are deleted after {days} days in which nothing was "
            "done with them.",
            days,
        ).format(days=days)
        return f"{words} {gettext('Pinned ones stay.')}" if retention.keep_pinned else words
    if own is None:
        return ""
    words = ngettext(
        "As you chose, your conversations are deleted after a day in which nothing was done with them.",
        "As you chose, your conversations are deleted after {days} days in which nothing was done "
        "with them.",
        own,
    ).format(days=own)
    if days is None or retention.keep_pinned:
        return f"{words} {gettext('Pinned ones stay.')}"
    longer = ngettext("Pinned ones stay for a day.", "Pinned ones stay for {days} days.", days)
    return f"{words} {longer.format(days=days)}"


def own_days(bucket: str) -> int | None:
    place = place_of(bucket)
    kept = None if place is None else preferences_of(place[0])
    return None if kept is None else kept.retention_days
