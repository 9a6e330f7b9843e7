"""If a process is killed, another one finishes its job, whatever its kind.

Each kind is killed at the worst moment. Only the documented effects then happen twice.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from apps.tasks.task import all_tasks
from tests.load.processes import until
from tests.sites.serving import close_shell, new_site, start
from tests.tasks.jobs import LEASES_ARE_OVER
from tests.triggers.receivers import receiver

pytestmark = pytest.mark.full

PATIENCE = 90.0
OVER = """
from apps.tasks.status import queue
result = [
    TaskFailure.objects.filter(task=task, is_lost=True).exists(),
    any(job.task == task for state in ("ready", "running") for job in queue().jobs(state, kind, 50)),
    failed := [row.error for row in TaskFailure.objects.filter(task=task, is_lost=False)],
]
"""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario. `prepare` enqueues a job whose process is killed at `point`; `check` is true once
    the job is done."""

    point: str
    prepare: str
    check: str
    kind: str = ""
    requests: int = 0
    """The number of requests that a receiver gets."""
    letters: int = 0


SCENARIOS = {
    "tasks.do_chore": Scenario(
        "apps.accounts.audit.delete_older",
        """
from apps.accounts.models import AuditEntry
from apps.tasks.chore_task import enqueue_chore
from datetime import timedelta
from django.utils import timezone
AuditEntry.objects.create(event="message.sent", at=timezone.now() - timedelta(days=9_000))
enqueue_chore("apps.accounts.audit.delete_old")
""",
        "result = not AuditEntry.objects.exists()",
        "apps.accounts.audit.delete_old",
    ),
    "tasks.do_async_chore": Scenario(
        "apps.catalog.corpora.indexer.reopen_refused",
        """
from apps.tasks.chore_task import enqueue_chore
enqueue_chore("apps.live.process.indexing.index")
""",
        'result = ChoreRun.objects.filter(work="apps.live.process.indexing.index", error="").exists()',
        "apps.live.process.indexing.index",
    ),
    "triggers.fire_at": Scenario(
        "apps.triggers.schedules.clock.notify_processes",
        """
from apps.triggers.schedules import clock
from tests.triggers.rows import add_schedule, add_user, application_of
from django.utils import timezone
now = timezone.now()
row = add_schedule(application_of(), add_user(), start_at=now)
clock.enqueue(now)
""",
        """
from apps.tasks.status import queue
waiting, running = (queue().jobs(state, "triggers.fire_at", 9) for state in ("ready", "running"))
result = Run.objects.count() == 1 and not waiting and not running
""",
    ),
    "triggers.deliver": Scenario(
        "apps.triggers.outgoing.attempts.settle",
        """
from apps.triggers.outgoing import attempts
from tests.triggers.outgoing.test_deliveries import make_subscription
delivery = Delivery.objects.create(
    subscription=make_subscription(url), event="run.done", door="page", application="travel",
    run="00000000-0000-0000-0000-000000000001",
)
attempts.enqueue_attempt(delivery.uuid)
""",
        """
from django.utils import timezone
held = Delivery.objects.filter(status="due", attempts=1, due_at__gt=timezone.now())
held.update(due_at=timezone.now())  # Once: otherwise the worker may read another time than it finds.
result = Delivery.objects.get().status == "sent"
""",
        requests=2,
    ),
    "a2a.push": Scenario(
        "apps.a2a.push_deliveries.send",
        """
from apps.a2a.models import PushConfig
from apps.a2a.push_deliveries import push
from apps.triggers.webhook_secrets import new_secret
from tests.catalog.rows import make_application
conversation = Conversation.objects.create(application=make_application(), owner="key-one")
run = Run.objects.create(
    stream=conversation.pk, request="1d3e4567-e89b-12d3-a456-426614174001", application="travel",
    bucket="key-one", status="done", door="a2a",
)
config = PushConfig.objects.create(run=run, name="one", url=url, token=new_secret())
push.enqueue(config.pk, 1)
""",
        """
from apps.tasks.status import queue
waiting, running = (queue().jobs(state, "a2a.push", 9) for state in ("ready", "running"))
result = not waiting and not running
""",
        requests=1,
    ),
    "triggers.send_mail_notice": Scenario(
        "apps.triggers.outgoing.mail.send_mail",
        """
from apps.triggers.outgoing import mail
from tests.catalog.rows import make_application
from tests.triggers.outgoing.test_mail import person
from django.utils import timezone
user, application = person(), make_application()
owned = {"application": application, "owner": f"user-{user.pk}"}
conversation = Conversation.objects.create(is_unread=True, **owned)
run = Run.objects.create(
    stream=conversation.pk, request="1d3e4567-e89b-12d3-a456-426614174001", application="travel",
    bucket=f"user-{user.pk}", status="done",
)
notice = MailNotice.objects.create(
    user=user, run=run.pk, event="run.done", due_at=timezone.now()
)
mail.enqueue(notice)
""",
        "result = not MailNotice.objects.exists()",
        letters=1,
    ),
    "cases.carry_out": Scenario(
        "apps.cases.runner.store_result",
        """
from apps.cases.background import begin_later
from apps.cases.runner import CaseRunRequest
from tests.cases.rows import make_case
from tests.catalog.rows import make_application, make_deployment
make_deployment()
application = make_application()
for name in ("First", "Second"):
    make_case(application, name)
begin_later(application, None, CaseRunRequest(mode="live"))
""",
        """
run = CaseRun.objects.get()
result = (run.state, run.results.count()) == ("passed", 2)
""",
    ),
}


def test_each_kind_of_task_has_a_scenario():
    assert SCENARIOS.keys() == {key for key in all_tasks() if not key.startswith("tests.")}


@pytest.mark.slow("a process is killed, and another one finishes its job")
@pytest.mark.parametrize("task", SCENARIOS)
def test_another_process_finishes_the_job_of_a_killed_one(
    tmp_path: Path, engine: dict[str, str], task: str
):
    scenario, mailbox = SCENARIOS[task], tmp_path / "mail"
    settings = {
        "EMAIL_URL": f"file://{mailbox}",
        "EMAIL_FROM": "quickapps@example.org",
        "A2A_PUSH_PRIVATE_HOSTS": "127.0.0.1",
        "PUBLIC_URL": "https://apps.example.org",
    }
    site = new_site(tmp_path, **settings, **engine)
    kind = scenario.kind or task
    try:
        with receiver() as received:
            site.shell(scenario.prepare, url=received.url)
            killed = start(site, "tests.tasks.worker_program", [scenario.point])
            assert killed.wait(PATIENCE) == -signal.SIGKILL
            assert not site.shell(scenario.check)
            site.shell(LEASES_ARE_OVER)
            other = start(site, "tests.tasks.worker_program")
            try:
                assert until(PATIENCE, lambda: bool(site.shell(scenario.check)))
                over = [True, False, []]
                assert until(PATIENCE, lambda: site.shell(OVER, task=task, kind=kind) == over)
            finally:
                other.stop(PATIENCE)
        assert len(received.requests) == scenario.requests
        assert len(set(received.ids)) == min(scenario.requests, 1)
        assert len(list(mailbox.glob("*"))) == scenario.letters
    finally:
        close_shell(site)
