"""Mail to absent users: the recipients, the times, and its short content."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.accounts.models import NoticeSettings
from apps.accounts.quiet_hours import QuietHours
from apps.conversations.models import Conversation
from apps.live.models import Run
from apps.triggers.models import MailNotice
from apps.triggers.old_deliveries import delete_old
from apps.triggers.outgoing import mail
from tests.chat.scripts import MANIFEST, Scene, scene, settled
from tests.contract import proves
from tests.fakes import calling, saying
from tests.tasks.jobs import run_waiting_jobs

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]

ASKING: dict[str, Any] = {**MANIFEST, "features": {"questions": {}}}
QUESTION = {"question": "Where?", "input_type": "text"}


@pytest.fixture
def mailbox(settings: Settings, tmp_path: Path) -> Path:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")
    settings.PUBLIC_URL = "https://apps.example.org"
    return tmp_path / "mail"


def letters(mailbox: Path) -> list[str]:
    return [one.read_text() for one in sorted(mailbox.glob("*"))] if mailbox.exists() else []


def person(**fields: Any) -> User:
    user = User.objects.create_user("ada", "ada@example.org")
    NoticeSettings.objects.create(user=user, **{"sends_mail": True, **fields})
    mail._mail_wanted.clear()
    return user


async def answered(on: Scene, *script: Any, **fields: Any) -> User:
    """Let a user ask and leave before the answer."""
    user: User = await database_sync_to_async(person)(**fields)
    on.visitor.user = user
    tab = await on.visitor.tab(on.hub)
    await tab.send_json_to({"type": "visibility", "hidden": True})
    on.model.put(*script)
    await tab.ask("Tell me a secret.")
    await tab.until("run.status", status="running")
    await on.visitor.leave()
    await settled(on.hub)
    return user


async def a_minute_later() -> None:
    await MailNotice.objects.all().aupdate(due_at=timezone.now())
    await run_waiting_jobs()


@proves("notices")
async def test_who_was_not_there_gets_a_link_and_nothing_of_the_conversation(mailbox: Path):
    async with scene() as on:
        await answered(on, *saying("The secret is 42."), None)
        early = await MailNotice.objects.aget()
        is_early = early.due_at > timezone.now() + timedelta(seconds=50)
        await a_minute_later()
        await a_minute_later()

    [letter] = letters(mailbox)
    conversation = await Conversation.objects.aget()
    assert is_early
    assert "Subject: =?utf-8?" in letter
    assert "To: ada@example.org" in letter
    assert f"https://apps.example.org/chat/{on.application.slug}/{conversation.pk}/" in letter
    assert "secret" not in letter
    assert not await MailNotice.objects.aexists()


async def test_failures_and_questions_are_mailed_too_until_they_are_dealt_with(mailbox: Path):
    async with scene(manifest=ASKING) as on:
        await answered(on, *calling(("q", "internal_ask_question", QUESTION)), None)
        waiting = await MailNotice.objects.aget()
        await a_minute_later()
        sent = len(letters(mailbox))
        await MailNotice.objects.acreate(
            user_id=waiting.user_id, run=waiting.run, event="run.waiting", due_at=timezone.now()
        )
        await Run.objects.all().aupdate(status="stopped")
        await a_minute_later()

    assert waiting.event == "run.waiting"
    assert (sent, len(letters(mailbox))) == (1, 1)


async def test_a_failure_says_so(mailbox: Path):
    async with scene() as on:
        await answered(on, RuntimeError("no luck"))
        await a_minute_later()

    [letter] = letters(mailbox)
    assert "could not answer" in letter
    assert "luck" not in letter


@proves("notices")
async def test_who_has_looked_by_then_gets_none(mailbox: Path):
    async with scene() as on:
        await answered(on, *saying("Done."), None)
        await Conversation.objects.all().aupdate(is_unread=False)
        await a_minute_later()

    assert letters(mailbox) == []
    assert not await MailNotice.objects.aexists()


@proves("notices")
async def test_who_did_not_ask_for_it_gets_none(mailbox: Path):
    async with scene() as on:
        await answered(on, *saying("Done."), None, sends_mail=False)

    assert not await MailNotice.objects.aexists()


@proves("notices")
async def test_in_quiet_hours_it_waits_until_they_are_over(mailbox: Path):
    now = datetime.now(UTC)
    begin, end = (now - timedelta(hours=1)).time(), (now + timedelta(hours=1)).time()
    async with scene() as on:
        await answered(on, *saying("Done."), None, quiet_from=begin, quiet_until=end)
        await a_minute_later()
        kept = await MailNotice.objects.aget()
        early = letters(mailbox)
        await NoticeSettings.objects.all().aupdate(quiet_from=None)
        await a_minute_later()

    assert early == []
    assert abs((kept.due_at - now).total_seconds() - 3600) < 61
    assert len(letters(mailbox)) == 1


async def test_a_mail_that_the_server_refuses_is_given_up_after_a_day(
    mailbox: Path, settings: Settings
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    async with scene() as on:
        await answered(on, *saying("Done."), None)
        await a_minute_later()
        left = await MailNotice.objects.acount()
        yesterday = timezone.now() - timedelta(days=1, minutes=1)
        await MailNotice.objects.aupdate(due_at=yesterday)
        await database_sync_to_async(delete_old)()

    assert (left, await MailNotice.objects.acount()) == (1, 0)
    assert [mail.send_mail_notice.pause_after(attempt) for attempt in range(1, 6)] == [
        timedelta(minutes=10),
        timedelta(minutes=20),
        timedelta(minutes=40),
        timedelta(hours=1),
        None,
    ]


QUIET = [
    # From, until, now, and the end of the quiet hours.
    ("22:00", "07:00", "2026-11-24T21:30+00:00", "2026-11-25T06:00+00:00"),
    ("22:00", "07:00", "2026-11-24T03:00+00:00", "2026-11-24T06:00+00:00"),
    ("22:00", "07:00", "2026-11-24T06:00+00:00", None),
    ("22:00", "07:00", "2026-11-24T12:00+00:00", None),
    ("12:00", "13:00", "2026-11-24T11:59+00:00", "2026-11-24T12:00+00:00"),
    ("12:00", "13:00", "2026-11-24T12:00+00:00", None),
    ("00:00", "00:00", "2026-11-24T12:00+00:00", "2026-11-24T23:00+00:00"),
    # Clocks change from two to three on this night, and from three to two on the other.
    ("22:00", "07:00", "2027-03-27T22:00+00:00", "2027-03-28T05:00+00:00"),
    ("22:00", "07:00", "2026-10-24T21:00+00:00", "2026-10-25T06:00+00:00"),
    ("22:00", "02:30", "2027-03-28T00:30+00:00", "2027-03-28T01:30+00:00"),
]


@proves("notices")
def test_quiet_hours_may_cross_midnight_and_go_by_the_clocks_of_the_person():
    def over(begin: str, end: str, now: str) -> datetime | None:
        hours = QuietHours(time.fromisoformat(begin), time.fromisoformat(end), "Europe/Berlin")
        return hours.end_after(datetime.fromisoformat(now))

    expected = [None if row[3] is None else datetime.fromisoformat(row[3]) for row in QUIET]
    assert [over(*row[:3]) for row in QUIET] == expected
