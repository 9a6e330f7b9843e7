"""Mail to people who were not there when an answer ended or began to wait for them.

A notice waits a minute, and until quiet hours are over. Whoever has looked at the conversation by
then gets none. The mail has a link and not a word of what was said.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_lazy

from apps.accounts.buckets import place_of
from apps.accounts.models import NoticeSettings
from apps.aged_cache import AgedCache
from apps.chat.composer.preferences import preferences_of
from apps.chat.models import Conversation
from apps.live.listeners import RunNews
from apps.live.models import Run, RunSummary
from apps.triggers.models import MailNotice, RunEvent

PATIENCE = timedelta(seconds=60)
"""For the person to see it on the page."""
KNOWN_SECONDS = 1.0
LEASE = timedelta(seconds=120)
MOST_ATTEMPTS = 5
PAUSE = timedelta(minutes=10)
OUTCOMES = {
    RunEvent.DONE: gettext_lazy("“{title}” answered"),
    RunEvent.FAILED: gettext_lazy("“{title}” could not answer"),
    RunEvent.WAITING: gettext_lazy("“{title}” waits for you"),
}
_anybody = AgedCache[str, str](1)


def forget() -> None:
    """For tests, which roll rows back."""
    _anybody.values.clear()


def note_runs(news: Sequence[RunNews]) -> None:
    """Write a notice for each person who wants mail."""
    if not settings.SENDS_MAIL or not somebody_wants_mail():
        return
    people = {
        one.run: place[0]
        for one in news
        if one.door in RunSummary.KEPT_DOORS and (place := place_of(one.bucket)) is not None
    }
    wanting = set(wishes().filter(user__in=people.values()).values_list("user", flat=True))
    due = timezone.now() + PATIENCE
    rows = [
        MailNotice(user_id=people[one.run], run=one.run, event=f"run.{one.status}", due_at=due)
        for one in news
        if people.get(one.run) in wanting
    ]
    if rows:
        with transaction.atomic():
            MailNotice.objects.bulk_create(rows, ignore_conflicts=True)


def wishes() -> QuerySet[NoticeSettings]:
    return NoticeSettings.objects.filter(sends_mail=True).order_by()


def somebody_wants_mail() -> bool:
    kept = _anybody.get("", KNOWN_SECONDS)
    if kept is None:
        kept = "yes" if wishes().exists() else "no"
        _anybody.put("", kept)
    return kept == "yes"


def claim(most: int) -> list[MailNotice]:
    """Notices that are due, each of which no other process sends now."""
    now = timezone.now()
    due = MailNotice.objects.filter(due_at__lte=now).select_related("user").order_by("due_at")
    return [
        row
        for row in due[:most]
        if MailNotice.objects.filter(pk=row.pk, due_at=row.due_at).update(
            due_at=now + LEASE, attempts=F("attempts") + 1
        )
    ]


def send_notice(notice: MailNotice) -> None:
    """Send it, put it off, or drop it. Raises what the mail server's refusal raises."""
    wish = wishes().filter(user=notice.user).first()
    found = unseen(notice)
    if wish is None or found is None or not notice.user.is_active or not notice.user.email:
        notice.delete()
        return
    quiet = wish.quiet_hours
    end = None if quiet is None else quiet.end_after(timezone.now())
    if end is not None:
        MailNotice.objects.filter(pk=notice.pk).update(due_at=end, attempts=0)
        return
    kept = preferences_of(notice.user_id)
    with translation.override(kept.language if kept and kept.language else None):
        subject, text = message_of(notice, found)
    send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [notice.user.email])
    notice.delete()


def put_off(notice: MailNotice) -> bool:
    """Try again later a notice that could not be sent; False if it is given up."""
    if notice.attempts + 1 >= MOST_ATTEMPTS:
        notice.delete()
        return False
    MailNotice.objects.filter(pk=notice.pk).update(due_at=timezone.now() + PAUSE)
    return True


def unseen(notice: MailNotice) -> Conversation | None:
    """The conversation in which the person has not seen it yet."""
    run = Run.objects.filter(pk=notice.run).first()
    if run is None:
        return None
    found = Conversation.objects.kept().filter(pk=run.stream, owner=run.bucket)
    if notice.event == RunEvent.WAITING:
        found = found if run.status == Run.Status.WAITING else found.none()
    else:
        found = found.filter(is_unread=True)
    return found.select_related("application").first()


def message_of(notice: MailNotice, found: Conversation) -> tuple[str, str]:
    """The subject, and the text with a link that opens the page and decides nothing."""
    page = reverse("conversation", args=(found.application_slug, found.pk))
    address = f"{settings.PUBLIC_URL}{page}"
    account = f"{settings.PUBLIC_URL}{reverse('account')}#notices"
    what = str(OUTCOMES[RunEvent(notice.event)]).format(title=found.application_title)
    where = gettext("{what} in one of your conversations:").format(what=what)
    why = gettext("You get this because you asked for it on the page of your account:")
    return " ".join(what.split()), f"{where}\n\n{address}\n\n{why}\n{account}\n"
