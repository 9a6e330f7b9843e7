"""Two processes whose clocks run at the same time send each message once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves
from tests.databases.postgresql import address_of, database
from tests.sites.serving import Site, close_shell, new_site

MAKE = """
    from datetime import timedelta
    from django.contrib.auth import get_user_model
    from django.utils import timezone
    from apps.accounts.caller import caller_in
    from apps.catalog.models import Application
    from apps.conversations.access import reference_of
    from apps.schedules.models import Schedule
    manifest = {
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": [], "tool_sets": [], "features": None,
    }
    application = Application.objects.create(
        slug="news", title="News", is_shared=True, manifest=manifest
    )
    User = get_user_model()
    people = User.objects.bulk_create(User(username=f"person-{n}") for n in range(persons))
    due = timezone.now() + timedelta(days=1)
    rows = []
    for number in range(count):
        user = people[number % persons]
        caller = caller_in(user.pk)
        rows.append(Schedule(
            application=application, user=user, owner=caller.bucket, caller=reference_of(caller),
            name=f"News {number}", message="What is new?", kind=kinds[number % len(kinds)],
            expression="* * * * *", start_at=due, next_at=due, interval_seconds=None, max_runs=1,
        ))
    Schedule.objects.bulk_create(rows)
    due = timezone.now() + timedelta(seconds=seconds)
    Schedule.objects.update(next_at=due, start_at=due - timedelta(minutes=1))
    result = due.timestamp()
    """
READ = """
    from apps.conversations.models import Conversation, Message
    from apps.live.models import JournalEntry, Run
    asked = Message.objects.values_list("sender__title", flat=True)
    times = [one.timestamp() for one in Run.objects.values_list("started_at", flat=True)]
    result = {
        "runs": Run.objects.filter(status="queued", holder="").count(),
        "schedules": len(set(asked)),
        "conversations": Conversation.objects.count(),
        "journal": JournalEntry.objects.count(),
        "first": min(times),
        "last": max(times),
    }
    """
pytestmark = pytest.mark.full
NEEDS_POSTGRESQL = pytest.mark.skipif(
    "TEST_DATABASE_URL" not in os.environ, reason="needs TEST_DATABASE_URL"
)


@contextmanager
def clock(site: Site) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.triggers.storm"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=site.environment, **pipes) as child:
        try:
            yield child
        finally:
            child.kill()


def strike(
    site: Site, count: int, persons: int, kinds: list[str]
) -> tuple[float, list[dict[str, Any]]]:
    """Run two clocks on that many schedules. Return the time, and the number of messages of each."""
    with ExitStack() as stack:
        clocks = [stack.enter_context(clock(site)) for _ in range(2)]
        for one in clocks:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        due = site.shell(MAKE, count=count, persons=persons, kinds=kinds, seconds=2)
        for one in clocks:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        asked = [json.loads(one.communicate(timeout=200)[0]) for one in clocks]
    return due, asked


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=NEEDS_POSTGRESQL)])
def site(request: Any, tmp_path: Path) -> Iterator[Site]:
    if request.param == "sqlite":
        made = new_site(tmp_path)
        yield made
        close_shell(made)
        return
    with database() as name:
        made = new_site(tmp_path, DATABASE_URL=address_of(name))
        yield made
        close_shell(made)


@pytest.mark.slow("several processes spend or fire at the same time")
@proves("D-42")
def test_two_clocks_ask_each_message_once(site):
    count = 300

    due, asked = strike(site, count, 60, ["cron", "interval", "at"])

    found = site.shell(READ)
    first = found.pop("first")
    del found["last"]
    assert found == dict.fromkeys(("runs", "schedules", "conversations", "journal"), count)
    assert sum(one["asked"] for one in asked) == count
    assert first >= due
