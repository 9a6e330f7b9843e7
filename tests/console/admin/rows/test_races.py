"""Exactly one of two concurrent requests wins."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client

from apps.catalog.models import Application, ApplicationDraft, Change
from tests.catalog.rows import make_application, make_deployment
from tests.console.admin.rows.test_conflicts import fields, url_of
from tests.console.admin.rows.test_history import change_page, last
from tests.console.pages import signed_in
from tests.console.studio.asking import send

ON_POSTGRESQL = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite lets one write at a time; PostgreSQL tests."
)
pytestmark = [pytest.mark.django_db(transaction=True), ON_POSTGRESQL, pytest.mark.postgres]


@pytest.fixture
def clients() -> list[Client]:
    return [signed_in(name) for name in ("anna", "ben")]


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    barrier = Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        try:
            barrier.wait()
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))


def test_of_two_saves_at_once_one_wins_and_the_other_is_told(clients):
    row = make_deployment()
    assert connection.vendor == "postgresql"

    answers = at_once(
        *(
            lambda client=client, name=name: client.post(
                url_of(row), fields(row, display_name=name)
            )
            for client, name in zip(clients, ("Anna's", "Ben's"), strict=True)
        )
    )

    assert sorted(answer.status_code for answer in answers) == [200, 302]
    [told] = [answer for answer in answers if answer.status_code == 200]
    conflict = told.context["adminform"].form.conflict
    assert [clash.path for clash in conflict.clashes] == ["display_name"]
    row.refresh_from_db()
    assert {row.display_name, conflict.clashes[0].mine} == {"Anna's", "Ben's"}
    assert (row.version, row.display_name) == (2, conflict.clashes[0].theirs)


def test_of_two_merges_at_once_one_wins_and_the_other_is_told(clients):
    row = make_deployment()
    late = fields(row, display_name="Late")
    row.description = "Meanwhile"
    row.save()
    sent = {**late, "seen_version": "2", "base_version": "1", "_merge": "1"}

    answers = at_once(*(lambda c=client: c.post(url_of(row), sent) for client in clients))

    assert sorted(answer.status_code for answer in answers) == [200, 302]
    row.refresh_from_db()
    assert (row.display_name, row.description, row.version) == ("Late", "Meanwhile", 3)


def test_of_two_drafts_saved_at_once_both_are_kept_or_one_chooses(clients):
    row = make_application()
    base = {"title": "Travel", "description": "", "icon": "", "manifest": row.manifest}
    own = ({"title": "Anna's"}, {"title": "Ben's"})
    beside = ({"title": "Tours"}, {"description": "Far"})

    def statuses(*changes: dict[str, Any]) -> list[int]:
        ApplicationDraft.objects.all().delete()
        answers = at_once(
            *(
                lambda c=client, one=one: send(
                    c, row, "save", {**base, **one, "version": 0, "base": base}
                )
                for client, one in zip(clients, changes, strict=True)
            )
        )
        return sorted(answer.status_code for answer in answers)

    assert (statuses(*own), statuses(*beside)) == ([200, 409], [200, 200])
    draft = ApplicationDraft.objects.get()
    assert (draft.title, draft.description, draft.version) == ("Tours", "Far", 2)


def test_of_two_who_restore_at_once_one_wins(clients):
    row = make_application()
    url = f"{change_page(last())}restore/after/"
    row.title = "Later"
    row.save()

    answers = at_once(*(lambda c=client: c.post(url, {"seen_version": "2"}) for client in clients))

    assert sorted(answer.status_code for answer in answers) == [200, 302]
    assert ApplicationDraft.objects.get().title == row.slug.title()


def test_each_of_many_saves_at_once_has_its_own_version_and_its_own_before(clients):
    row = make_application()

    def save(number: int) -> None:
        own = Application.objects.get(pk=row.pk)
        own.description = f"Number {number}"
        own.save()

    at_once(*(lambda n=number: save(n) for number in range(8)))

    changes = list(Change.objects.filter(kind="catalog.application").order_by("pk"))
    states: list[Any] = [change.after for change in changes]
    assert [change.version for change in changes] == list(range(1, 10))
    assert [change.before for change in changes] == [None, *states[:-1]]
