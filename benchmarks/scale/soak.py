"""Simulate days of traffic in minutes: chats, gateway, uploads, schedules, webhooks and retention.

After each round of traffic, all times in the database move six hours into the past, and each
maintenance job runs. Then the stored data is counted, which must not grow after the warm-up.
"""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import redis
from standardwebhooks.webhooks import Webhook as Signer

from benchmarks.processes import Process
from benchmarks.scale.fleet import SLUG, Site, ask_gateway, read_answers, served
from benchmarks.scale.plots import plot

PROCESSES = 2
HOURS_OF_ROUND = 6
CHATS, REQUESTS, UPLOADS, CALLS, SCHEDULES = 8, 32, 4, 4, 4
SETTLE_SECONDS = 120.0
KEPT = {"insights_usagesum", "insights_summedspan"}
"""Tables of the usage history, which is retained: some rows a day for each application, user and
model."""
WARM_UP = 0.5
"""The share of rounds for the warm-up, after which caches are full and the first rows of each kind
were deleted."""
MOST_GROWTH = {"memory": 0.05, "files open": 0.1, "rows": 0.1, "files": 0.1, "Redis keys": 0.25}
"""The maximum growth of each count from the end of the warm-up to the end, as a share of the mean.
"""
SETTINGS = {
    "RUN_ROWS_DAYS": "1",
    "RUN_COMPACT_DAYS": "1",
    "USAGE_DAYS": "1",
    "AUDIT_DAYS": "1",
}
PREPARE = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from apps.accounts.caller import caller_in
from apps.accounts.models import ServiceAccount
from apps.catalog.versions.version_recorder import save_live
from apps.conversations.access import reference_of
from apps.triggers.models import Webhook
from apps.triggers.webhook_secrets import renew_secret
application = Application.objects.get(slug=slug)
application.manifest = {**application.manifest, "features": {"retention": {"days": 1}}}
save_live(application)
account = ServiceAccount.objects.create(user=User.objects.create_user("robot"))
webhook = Webhook(name="Soak", application=application, account=account)
secret = renew_secret(webhook)
webhook.save()
user = User.objects.create_user("planner")
caller = caller_in(user.pk)
for number in range(schedules):
    row = Schedule(
        application=application, user=user, owner=caller.bucket, caller=reference_of(caller),
        name=f"Report {number}", message="tokens=5 delay_ms=0 first_ms=0 tool=", kind="interval",
        start_at=timezone.now(), interval_seconds=6 * 3600,
    )
    row.full_clean()
    row.plan(timezone.now())
    row.save()
result = [str(webhook.uuid), secret]
"""
SETTLED = """
result = Run.objects.filter(status__in=Run.OPEN).count()
"""
MOVE_CLOCK = """
from django.apps import apps as installed
from django.db import connection, models
skipped = {"tasks", "sessions", "auth"}
ours = [one for one in installed.get_models() if one.__module__.startswith("apps.")]
with connection.cursor() as cursor:
    for model in ours:
        times = [one.column for one in model._meta.concrete_fields
                 if isinstance(one, models.DateTimeField)]
        if times and model._meta.app_label not in skipped and not model._meta.proxy:
            # In two steps: in between, a time would be that of another row, which has to be unique.
            for moved in (f"- interval '200000 days {hours} hours'", "+ interval '200000 days'"):
                changes = ", ".join(f"{one} = {one} {moved}" for one in times)
                cursor.execute(f"UPDATE {model._meta.db_table} SET {changes}")
    cursor.execute(f"UPDATE django_session SET expire_date = expire_date - interval '{hours} hours'")
"""
DO_CHORES = """
from django.utils.module_loading import import_string
from apps.tasks.chore_task import all_chores
for chore in all_chores():
    if not chore.is_async:
        import_string(chore.work)()
"""
COUNT_ROWS = """
from django.apps import apps as installed
result = {
    one._meta.db_table: one._base_manager.count()
    for one in installed.get_models() if not one._meta.proxy and one._meta.managed
}
"""


@dataclass
class Samples:
    """The counts of each round, and the rows by table."""

    hours: list[float] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)
    tables: list[dict[str, int]] = field(default_factory=list)

    def growth(self, name: str) -> float:
        """Return the growth from the end of the warm-up to the end, by linear regression, as a
        share of the mean."""
        begin = int(len(self.hours) * WARM_UP)
        hours, values = self.hours[begin:], self.values[name][begin:]
        if len(hours) < 3 or not any(values):
            return 0.0
        slope = statistics.linear_regression(hours, values).slope
        return slope * (hours[-1] - hours[0]) / statistics.fmean(values)

    def grown_tables(self) -> str:
        first, last = self.tables[int(len(self.tables) * WARM_UP)], self.tables[-1]
        grown = {name: last[name] - first.get(name, 0) for name in last}
        most = sorted(grown.items(), key=lambda one: -one[1])[:8]
        return ", ".join(f"{name} {count:+}" for name, count in most if count > 0)


class Soak:
    def __init__(self, site: Site) -> None:
        self.site, self.samples = site, Samples()
        self.hook, self.secret = site.shell.run(PREPARE, {"slug": SLUG, "schedules": SCHEDULES})
        self.client = httpx.Client(base_url=site.url, headers={"Api-Key": site.key}, timeout=60)
        self.bucket = self.client.get("/v1/bucket").raise_for_status().json()["bucket"]

    def round(self, number: int) -> None:
        for one in read_answers(self.site, CHATS, 20, 10):
            if one.error:
                raise RuntimeError(f"An answer failed: {one.error}")
        if errors := ask_gateway(self.site, REQUESTS, 8).errors:
            raise RuntimeError(f"A request failed: {errors[0]}")
        for place in range(UPLOADS):
            self.upload(f"file-{place}.txt", f"Round {number}")
        for _ in range(CALLS):
            self.call_webhook()
        self.settle()
        self.site.shell.run(MOVE_CLOCK, {"hours": HOURS_OF_ROUND})
        self.settle()  # schedules are due now
        self.site.shell.run(DO_CHORES, {})
        self.sample(number)

    def upload(self, name: str, text: str) -> None:
        files = {"file": (name, text.encode(), "text/plain")}
        self.client.put(f"/v1/files/{self.bucket}/{name}", files=files).raise_for_status()

    def call_webhook(self) -> None:
        key, now = f"msg_{uuid4().hex}", datetime.now(UTC)
        body = json.dumps({"text": "tokens=5 delay_ms=0 first_ms=0 tool="})
        headers = {
            "webhook-id": key,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Signer(self.secret).sign(key, now, body),
            "content-type": "application/json",
        }
        self.client.post(f"/hooks/{self.hook}", content=body, headers=headers).raise_for_status()

    def settle(self) -> None:
        """Wait until no run is active."""
        end = time.monotonic() + SETTLE_SECONDS
        while self.site.shell.run(SETTLED, {}):
            if time.monotonic() > end:
                raise RuntimeError("Runs are still open.")
            time.sleep(0.2)

    def sample(self, number: int) -> None:
        tables = self.site.shell.run(COUNT_ROWS, {})
        processes = [Process(one, 0) for one in self.site.fleet.processes.values()]
        folder = Path(self.site.fleet.environment["DATA_DIR"])
        with redis.Redis.from_url(self.site.fleet.environment["REDIS_URL"]) as client:
            keys = client.dbsize()
        found: dict[str, Any] = {
            "memory": sum(one.memory() for one in processes) / 2**20,
            "files open": sum(open_files(one) for one in processes),
            "rows": sum(count for name, count in tables.items() if name not in KEPT),
            "files": sum(one.is_file() for one in folder.rglob("*")),
            "Redis keys": keys,
        }
        self.samples.hours.append((number + 1) * HOURS_OF_ROUND)
        self.samples.tables.append(tables)
        for name, value in found.items():
            self.samples.values.setdefault(name, []).append(float(value))
        print(f"{self.samples.hours[-1]:5.0f} h", *(f"{k} {v:.0f}" for k, v in found.items()))


def open_files(process: Process) -> int:
    return len([*Path(f"/proc/{process.process.pid}/fd").iterdir()])


def run(minutes: float, plots: Path | None) -> int:
    with served(PROCESSES, **SETTINGS) as site:
        soak, end, number = Soak(site), time.monotonic() + minutes * 60, 0
        while time.monotonic() < end:
            soak.round(number)
            number += 1
    return judge(soak.samples, plots)


def judge(samples: Samples, plots: Path | None) -> int:
    """Print the growth of each count and write the plots. Return 1 if a count grows."""
    has_grown = False
    for name, most in MOST_GROWTH.items():
        growth = samples.growth(name)
        has_grown |= growth > most
        print(f"{name}: {growth:+.1%}, at most {most:+.0%}")
    print(f"tables: {samples.grown_tables() or 'none grew'}")
    if plots is not None:
        write_plots(samples, plots)
    return int(has_grown)


def write_plots(samples: Samples, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    units = {"memory": "Memory of both processes, MiB", "files open": "Open descriptors"}
    for name, values in samples.values.items():
        title = units.get(name, name[0].upper() + name[1:])
        path = folder / f"soak-{name.lower().replace(' ', '-')}.svg"
        path.write_text(plot(title, samples.hours, values))
