"""Measure the milliseconds, CPU time and queries of every page and list of a large installation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.caller import bucket_of
from apps.conversations.models import Conversation, Folder
from apps.feedback.models import Feedback
from apps.live.run_summary import RunSummary
from apps.notes.models import Note
from benchmarks.load import percentile
from benchmarks.scale.counters import cpu_of

SETTLED_ROUNDS = 2
"""The number of rounds. The fewest queries count, because occasional lookups of the process are not
part of a page."""


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    address: str
    user: str


@dataclass(frozen=True, slots=True)
class PageCost:
    """The milliseconds of a request, and the CPU time of this process and of the database's."""

    page: Page
    status: int
    clock_p95: float
    cpu_p50: float
    cpu_p95: float
    queries: int
    slowest: str
    """The slowest statement."""


def pages() -> list[Page]:
    people = User.objects.filter(username__startswith="person-", is_active=True).order_by("pk")
    first, typical = people[0], people[people.count() // 5]
    return [
        *pages_of(first, "of the largest owner"),
        *pages_of(typical, "of another user"),
        *admin_pages(first),
    ]


def pages_of(user: User, whose: str) -> Iterator[Page]:
    mine = Conversation.objects.filter(owner=bucket_of(user.pk)).lasting()
    conversation = mine.select_related("application").order_by("-updated_at")[:1].get()
    slug, after = conversation.application_slug, middle_of(mine)
    folder = Folder.objects.filter(owner=bucket_of(user.pk))[:1].get()
    note = Note.objects.filter(owner=bucket_of(user.pk))[:1].get()
    named = {
        "home": reverse("index"),
        "new conversation": reverse("chat", args=[slug]),
        "conversation": reverse("conversation", args=[slug, conversation.pk]),
        "usage of a conversation": reverse("usage", args=[slug, conversation.pk]),
        "rail": reverse("conversations"),
        "rail, further down": f"{reverse('conversations')}?{urlencode({'after': after})}",
        "rail, archive": f"{reverse('conversations')}?part=archived",
        "rail, folder": f"{reverse('conversations')}?folder={folder.pk}",
        **searches("rail search", reverse("conversations-search")),
        **searches("palette", reverse("find")),
        "settings": reverse("settings"),
        "data": reverse("data"),
        "account": reverse("account"),
        "prompts": reverse("prompts"),
        "notes": reverse("notes"),
        "notes search": f"{reverse('notes')}?q=kating",
        "note": reverse("note", args=[note.pk]),
        "memory": reverse("memory"),
        "schedules": reverse("schedules"),
        "approvals": reverse("approvals"),
        "connections": reverse("connections"),
        "teams": reverse("teams"),
    }
    return (Page(f"{name} {whose}", address, user.username) for name, address in named.items())


def middle_of(mine: Any) -> str:
    row = mine.order_by("-updated_at", "-pk")[mine.count() // 2]
    return f"{row.updated_at.isoformat()} {row.pk}"


def searches(name: str, address: str) -> dict[str, str]:
    words = {"frequent word": "kara", "rare word": "tasden19", "letters": "ka", "no hit": "zzzz"}
    return {
        f"{name}: {kind}": f"{address}?{urlencode({'q': word})}" for kind, word in words.items()
    }


def admin_pages(person: User) -> Iterator[Page]:
    run = RunSummary.objects.order_by("-started_at")[:1].get()
    failed = RunSummary.objects.exclude(error_reference="")[:1].get()
    feedback = Feedback.objects.order_by("-pk")[:1].get()
    addresses = [
        "",
        *(
            f"insights/usagesum/?by={by}&days={days}"
            for by in ("application", "version", "user", "key", "team", "deployment", "tool")
            for days in (1, 90)
        ),
        *lists(),
        "runs/runsummary/?p=1000",
        f"runs/runsummary/?q={failed.error_reference}",
        f"runs/runsummary/?q={person.username}",
        "runs/runsummary/?state=failed",
        "runs/runsummary/?application=app-199",
        f"runs/runsummary/{run.pk}/change/",
        "accounts/auditentry/?p=1000",
        f"accounts/auditentry/?q={person.username}",
        "accounts/auditentry/?q=app-199",
        "accounts/auditentry/?event__exact=tool.executed",
        "accounts/auditentry/?event__exact=access.denied",
        "auth/user/?q=person-49",
        f"auth/user/{person.pk}/change/",
        "feedback/feedback/?state__exact=new",
        "feedback/feedback/?q=kara",
        f"feedback/feedback/{feedback.pk}/change/",
        "catalog/application/?q=app-19",
        "find/?q=person-49",
        "find/?q=app-19",
    ]
    for address in addresses:
        yield Page(f"/admin/{address}", f"/admin/{address}", "admin")


def lists() -> Iterator[str]:
    for model in filter(admin.site.is_registered, apps.get_models()):
        yield f"{model._meta.app_label}/{model._meta.model_name}/"


def signed_in(user: str) -> Client:
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=user))
    return client


def measure(client: Client, page: Page, rounds: int) -> PageCost:
    status = client.get(page.address).status_code
    backend = backend_of_connection()
    times, used = [], []
    for _ in range(rounds):
        at, before = time.perf_counter(), cpu_of(backend) + time.process_time()
        client.get(page.address)
        used.append((cpu_of(backend) + time.process_time() - before) * 1e3)
        times.append((time.perf_counter() - at) * 1e3)
    found = []
    for _ in range(SETTLED_ROUNDS):
        with CaptureQueriesContext(connection) as queries:
            client.get(page.address)
        found.append(list(queries))
    fewest = min(found, key=len)
    slowest = max(fewest, key=lambda one: float(one["time"]), default={"time": "0", "sql": ""})
    return PageCost(
        page,
        status,
        percentile(times, 0.95),
        percentile(used, 0.5),
        percentile(used, 0.95),
        len(fewest),
        f"{slowest['time']} s: {slowest['sql']}",
    )


def backend_of_connection() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])
