"""Emails users about unseen answers, and about answers that are waiting for them.

An email is sent after a minute, or at the end of the user's quiet hours, unless the user opens the
conversation first. It contains a link, but no text from the conversation.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_lazy

from apps.accounts.caller import owner_ids
from apps.accounts.models import NoticeSettings
from apps.accounts.preferences import preferences_of
from apps.conversations.models import Conversation
from apps.live.doors import STORED_DOORS
from apps.live.listeners import RunNews
from apps.live.models import Run
from apps.process_state import AgedCache
from apps.tasks.task import task
from apps.triggers.models import MailNotice, RunEvent

PATIENCE = timedelta(seconds=60)
"""The delay before an email is sent. It is not sent if the user opens the conversation first."""
CACHE_SECONDS = 1.0
OUTCOMES = {
    RunEvent.DONE: gettext_lazy("“{title}” answered"),
    RunEvent.FAILED: gettext_lazy("“{title}” could not answer"),
    RunEvent.WAITING: gettext_lazy("“{title}” is waiting for you"),
}
_mail_wanted = AgedCache[str, str](1)


def note_runs(news: Sequence[RunNews]) -> None:
    """Store an email notice for each of these runs whose owner wants emails."""
    if not settings.SENDS_MAIL or not is_mail_wanted():
        return
    people = {
        one.run: ids[0]
        for one in news
        if one.door in STORED_DOORS
        and f"run.{one.status}" in OUTCOMES
        and (ids := owner_ids(one.bucket)) is not None
    }
    wanting = set(mail_settings().filter(user__in=people.values()).values_list("user", flat=True))
    due = timezone.now() + PATIENCE
    rows = [
        MailNotice(user_id=people[one.run], run=one.run, event=f"run.{one.status}", due_at=due)
        for one in news
        if people.get(one.run) in wanting
    ]
    if rows:
        with transaction.atomic():
            MailNotice.objects.bulk_create(rows, ignore_conflicts=True)
            for row in rows:
                enqueue(row)


def mail_settings() -> QuerySet[NoticeSettings]:
    return NoticeSettings.objects.filter(sends_mail=True).order_by()


def is_mail_wanted() -> bool:
    kept = _mail_wanted.get("", CACHE_SECONDS)
    if kept is None:
        kept = "yes" if mail_settings().exists() else "no"
        _mail_wanted.put("", kept)
    return kept == "yes"


def enqueue(notice: MailNotice) -> None:
    send_mail_notice.using(run_after=notice.due_at).enqueue(str(notice.run), notice.event)


@task("triggers.send_mail_notice", title="Email to users", retries=4, wait=600)
def send_mail_notice(run: str, event: str) -> None:
    """Email the user about a run's event, unless the user has seen it or does not want emails.

    Raises an exception if the mail server fails, so that the job is retried.
    """
    notice = MailNotice.objects.filter(run=run, event=event).select_related("user").first()
    if notice is None:
        return
    notices = mail_settings().filter(user=notice.user).first()
    found = unseen_conversation(notice)
    if notices is None or found is None or not notice.user.is_active or not notice.user.email:
        notice.delete()
        return
    now, quiet = timezone.now(), notices.quiet_hours
    end = None if quiet is None else quiet.end_after(now)
    if (later := max(notice.due_at, end or now)) > now:
        postpone(notice, later)
        return
    kept = preferences_of(notice.user_id)
    with translation.override(kept.language if kept and kept.language else None):
        subject, text = message_of(notice, found)
    send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [notice.user.email])
    notice.delete()


@transaction.atomic
def postpone(notice: MailNotice, until: datetime) -> None:
    notice.due_at = until
    notice.save(update_fields=["due_at"])
    enqueue(notice)


def unseen_conversation(notice: MailNotice) -> Conversation | None:
    """Return the conversation if it is waiting for the user or has an unread answer, else None."""
    run = Run.objects.filter(pk=notice.run).first()
    if run is None:
        return None
    found = Conversation.objects.undeleted().filter(pk=run.stream, owner=run.bucket)
    if notice.event == RunEvent.WAITING:
        found = found if run.status == Run.Status.WAITING else found.none()
    else:
        found = found.filter(is_unread=True)
    return found.select_related("application").first()


def message_of(notice: MailNotice, found: Conversation) -> tuple[str, str]:
    """Return the subject and the text of an email, with a link to the conversation."""
    page = reverse("conversation", args=(found.application_slug, found.pk))
    address = f"{settings.PUBLIC_URL}{page}"
    account = f"{settings.PUBLIC_URL}{reverse('account')}#notices"
    what = str(OUTCOMES[RunEvent(notice.event)]).format(title=found.application_title)
    where = gettext("{what} in one of your conversations:").format(what=what)
    why = gettext(
        "You’re receiving this email because email notifications are on. To change this, go to your account page:"
    )
    return " ".join(what.split()), f"{where}\n\n{address}\n\n{why}\n{account}\n"
