"""Webhooks and deliveries on several real processes, one of which is killed."""

from __future__ import annotations

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook as Signer

from apps.tasks.running import JOBS_AT_ONCE
from tests.contract import proves
from tests.load.processes import until
from tests.sites.serving import serve_process
from tests.tasks.jobs import LEASES_ARE_OVER
from tests.triggers.receivers import receiver

pytestmark = pytest.mark.full

PATIENCE = 60.0
PREPARE = """
from django.contrib.auth.models import User
from apps.accounts.models import ServiceAccount
from apps.catalog.models import Application
from apps.triggers.models import Subscription, Webhook
from apps.triggers.webhook_secrets import new_secret, renew_secret
from apps.workspace.local.models import Deployment
Deployment.objects.create(deployment_id="demo-model", display_name="Demo", provider="demo")
manifest = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []
}
application = Application.objects.create(
    slug="orders", title="Orders", manifest=manifest, is_shared=True
)
account = ServiceAccount.objects.create(user=User.objects.create_user("robot"))
boss = User.objects.create_superuser("boss")
webhook = Webhook(name="Shop", application=application, account=account, saved_by=boss)
secret = renew_secret(webhook)
webhook.save()
Subscription.objects.create(
    name="Told", url=url, owner=boss, secret=new_secret(),
    events=["run.done"],
)
result = [str(webhook.uuid), secret]
"""
COUNTS = """
from apps.conversations.models import Conversation, Message
from apps.live.models import Run
from apps.triggers.models import Delivery
result = [
    Conversation.objects.count(), Run.objects.count(), Message.objects.count(),
    sorted(Delivery.objects.values_list("status", flat=True)),
]
"""
SET = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from apps.accounts.caller import caller_in
from apps.catalog.models import Application
from apps.conversations.access import reference_of
from apps.schedules import user_schedules
from apps.schedules.user_schedules import Owner
from apps.workspace.local.models import Deployment
Deployment.objects.create(deployment_id="demo-model", display_name="Demo", provider="demo")
manifest = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": [], "tool_sets": []
}
application = Application.objects.create(slug="news", title="News", manifest=manifest, is_shared=True)
ada = User.objects.create_user("ada")
caller = caller_in(ada.pk)
fields = {"name": "News", "message": "Hello", "kind": "at"}
fields["start_at"] = timezone.now() + timedelta(hours=1)
owner = Owner(caller.bucket, ada.pk, None, reference_of(caller))
user_schedules.add(owner.new(application.pk, "person", fields))
result = None
"""
DUE = """
from django.utils import timezone
from apps.schedules.models import Schedule
result = Schedule.objects.update(start_at=timezone.now(), next_at=timezone.now())
"""
ASKED = """
from apps.live.models import Run
from apps.schedules.models import Schedule
row = Schedule.objects.get()
result = [row.run_count, list(Run.objects.values_list("status", flat=True))]
"""
COUNT = JOBS_AT_ONCE + 5
QUEUE = """
from uuid import uuid4
from django.contrib.auth.models import User
from apps.triggers.models import Delivery, Subscription
from apps.triggers.outgoing.attempts import enqueue_attempt
from apps.triggers.webhook_secrets import new_secret
boss = User.objects.create_superuser("boss")
subscription = Subscription.objects.create(
    name="Told", url=url, owner=boss, secret=new_secret(), events=["run.done"]
)
for _ in range(count):
    row = Delivery.objects.create(
        subscription=subscription, event="run.done", run=uuid4(), door="page", application="news"
    )
    enqueue_attempt(row.uuid)
result = None
"""
STATUSES = """
from apps.triggers.models import Delivery
result = list(Delivery.objects.values_list("status", flat=True))
"""
DELIVERIES_ARE_DUE = """
from apps.triggers.models import Delivery
from django.utils import timezone
Delivery.objects.filter(status="due").update(due_at=timezone.now())
"""


def signed(secret: str, id: str, body: str) -> dict[str, str]:
    now = datetime.now(UTC)
    return {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Signer(secret).sign(id, now, body),
    }


@pytest.mark.slow("two processes share a clock, and one is killed")
@proves("D-42")
def test_what_was_set_before_a_kill_is_asked_once_by_the_processes_that_come_after(
    tmp_path: Path, engine: dict[str, str]
):
    with serve_process(tmp_path, **engine) as (site, process):
        site.shell(SET)
        assert site.shell(ASKED) == [0, []]
        process.kill()
        process.wait(PATIENCE)
        site.shell(DUE)
        with (
            serve_process(tmp_path, **engine) as (one, _),
            serve_process(tmp_path, **engine),
        ):
            # The sweep of each minute finds schedules that were changed only in the database.
            assert until(2 * PATIENCE, lambda: one.shell(ASKED) == [1, ["done"]])


@pytest.mark.slow("two processes share a clock, and one is killed")
@proves("webhooks")
def test_two_processes_ask_a_message_once_and_after_a_kill_another_one_tells_of_it(
    tmp_path: Path, engine: dict[str, str]
):
    with receiver() as there:
        there.may_answer.clear()
        with (
            serve_process(tmp_path, **engine) as (one, first),
            serve_process(tmp_path, **engine) as (other, second),
        ):
            uuid, secret = one.shell(PREPARE, url=there.url)
            body = json.dumps({"order": 7})

            def send(number: int) -> tuple[int, Any]:
                url = f"{(one, other)[number % 2].url}/hooks/{uuid}"
                headers = signed(secret, "m", body)
                answer = httpx.post(url, content=body, headers=headers, timeout=PATIENCE)
                return answer.status_code, answer.json()

            with ThreadPoolExecutor(8) as pool:
                told = list(pool.map(send, range(16)))
            # One of them waits for the receiver's response, which never arrives.
            assert until(PATIENCE, lambda: len(there.requests) == 1)
            first.kill()
            second.kill()
        there.may_answer.set()
        with serve_process(tmp_path, **engine) as (third, _):
            third.shell(DELIVERIES_ARE_DUE + LEASES_ARE_OVER)
            # Workers look for lost jobs once a minute.
            assert until(2 * PATIENCE, lambda: third.shell(COUNTS) == [1, 1, 2, ["sent"]])

    assert {status for status, _ in told} == {202}
    assert len({answer["task_id"] for _, answer in told}) == 1
    assert len(there.ids) == 2
    assert len(set(there.ids)) == 1


@pytest.mark.slow("a server stops while twenty deliveries hang, and another one sends them")
@proves("subscriptions")
def test_a_server_with_hanging_deliveries_stops_promptly_and_the_next_one_sends_them(
    tmp_path: Path, engine: dict[str, str]
):
    with receiver() as there:
        there.may_answer.clear()
        with serve_process(tmp_path, **engine) as (site, process):
            site.shell(QUEUE, url=there.url, count=COUNT)
            assert until(PATIENCE, lambda: len(there.requests) == JOBS_AT_ONCE)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
            seconds = time.monotonic() - began
            log = site.log.read_text()
        there.may_answer.set()
        with serve_process(tmp_path, **engine) as (other, _):
            other.shell(DELIVERIES_ARE_DUE)
            assert until(2 * PATIENCE, lambda: other.shell(STATUSES) == ["sent"] * COUNT)

    assert "Traceback" not in log
    assert seconds < 20
