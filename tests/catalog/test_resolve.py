from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async

from apps.catalog import resolve as catalog
from apps.catalog.content.installed import installed_content
from apps.catalog.models import Application
from apps.catalog.resolve import resolve_application
from apps.catalog.resolved_application import ResolvedApplication, prepare_application
from apps.errors import ApplicationBroken, ApplicationNotFound
from tests.catalog.rows import make_application, store_application
from tests.contract import proves

pytestmark = pytest.mark.django_db


def grow_old() -> None:
    for kept in catalog._kept.values():
        kept.checked_at = float("-inf")
    for slug in catalog._absent.values:
        catalog._absent.values[slug] = True, -1e9


@proves("G-03")
def test_a_burst_asks_the_database_once(django_assert_num_queries, monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    make_application("travel")

    async def burst() -> None:
        await resolve_application("travel")
        grow_old()
        await asyncio.gather(*(resolve_application("travel") for _ in range(20)))

    with django_assert_num_queries(3):  # the content and the row, then its version
        async_to_sync(burst)()


def test_a_first_burst_looks_an_application_up_and_prepares_it_once(
    django_assert_num_queries, settings, monkeypatch
):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    make_application("travel")
    prepared_in: list[int] = []

    def prepare(*arguments: Any, **options: Any) -> ResolvedApplication:
        prepared_in.append(threading.get_ident())
        return prepare_application(*arguments, **options)

    monkeypatch.setattr(catalog, "prepare_application", prepare)

    async def burst() -> tuple[int, set[int]]:
        impatient = asyncio.create_task(resolve_application("travel"))
        await asyncio.sleep(0)
        impatient.cancel()
        found = await asyncio.gather(*(resolve_application("travel") for _ in range(20)))
        return threading.get_ident(), set(map(id, found))

    installed_content()
    with django_assert_num_queries(2):  # the row and its version
        loop_thread, found = async_to_sync(burst)()

    assert len(found) == len(prepared_in) == 1
    assert prepared_in != [loop_thread]
    assert catalog._lookups == {}


def test_the_least_recently_used_application_is_evicted(settings, monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    monkeypatch.setattr(catalog, "MOST_APPLICATIONS", 2)
    for slug in ("one", "two", "three"):
        make_application(slug)

    async def asked() -> list[str]:
        for slug in ("one", "two", "one", "three"):
            await resolve_application(slug)
        return list(catalog._kept)

    assert async_to_sync(asked)() == ["one", "three"]


def test_a_name_that_no_application_has_is_not_looked_for_each_time(
    django_assert_num_queries, monkeypatch
):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)

    async def refused() -> None:
        with pytest.raises(ApplicationNotFound):
            await resolve_application("travel")

    async def burst() -> None:
        await refused()
        grow_old()
        await asyncio.gather(*(refused() for _ in range(20)))

    with django_assert_num_queries(3):  # the content and the row, then the row
        async_to_sync(burst)()


async def test_an_application_that_is_new_is_found_once_what_is_kept_is_old(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    with pytest.raises(ApplicationNotFound):
        await resolve_application("travel")
    await sync_to_async(store_application)(slug="travel", title="Travel")

    with pytest.raises(ApplicationNotFound):
        await resolve_application("travel")
    grow_old()
    assert (await resolve_application("travel")).title == "Travel"


async def test_a_change_is_seen_once_what_is_kept_is_old(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    application = await sync_to_async(store_application)(slug="travel", title="Before")
    assert (await resolve_application("travel")).title == "Before"
    application.title = "After"
    await application.asave()

    assert (await resolve_application("travel")).title == "Before"
    grow_old()
    assert (await resolve_application("travel")).title == "After"


async def test_nobody_gets_what_was_there_before_an_application_broke():
    application = await sync_to_async(store_application)(slug="travel", title="Travel")
    await resolve_application("travel")
    application.manifest = {"orchestrator": 5}
    await application.asave()
    grow_old()

    for _ in range(2):
        with pytest.raises(ApplicationBroken):
            await resolve_application("travel")


async def test_nobody_gets_what_was_disabled():
    application = await sync_to_async(store_application)(slug="travel", title="Travel")
    await resolve_application("travel")
    application.is_enabled = False
    await application.asave()
    grow_old()

    for _ in range(2):
        with pytest.raises(ApplicationNotFound):
            await resolve_application("travel")


async def test_a_name_that_was_made_anew_is_another_application():
    before = await sync_to_async(store_application)(slug="travel", title="Before")
    version = (await resolve_application("travel")).version
    await before.adelete()
    after = await sync_to_async(store_application)(slug="travel", title="After")
    await Application.objects.filter(pk=after.pk).aupdate(version=version)
    grow_old()

    assert (await resolve_application("travel")).title == "After"


PREVIEW = {
    "orchestrator": {"deployment": {"deployment_id": "gpt"}, "tool_discovery": {"enabled": True}},
    "contexts": [
        {"type": "folder", "url": "files/b/"},
        {"type": "user-defined", "content": "a"},
        {"type": "folder", "url": "files/c/"},
    ],
    "tool_sets": [{"type": "rest-api", "name": "Shop", "tools": [], "deferred": False}],
    "features": {"web_fetch": None, "dial_files": {}},
}


@proves("2.5")
@pytest.mark.parametrize("is_on", [True, False])
async def test_what_is_written_for_preview_features_is_warned_of_while_they_are_off(
    is_on, settings, caplog
):
    settings.ENABLE_PREVIEW_FEATURES = is_on
    await sync_to_async(store_application)(slug="travel", title="Travel", manifest=PREVIEW)

    application = await resolve_application("travel")

    said = [
        record for record in caplog.records if record.name == "apps.catalog.resolved_application"
    ]
    why = "is left out: it is a preview feature, and preview features are off in this installation"
    paths = (
        *("orchestrator.tool_discovery", "contexts[0]", "contexts[2]"),
        "tool_sets[0].deferred",
    )
    expected = [] if is_on else [("WARNING", f"Application travel: {p} {why}") for p in paths]
    # PostgreSQL does not keep the order of keys.
    assert sorted((record.levelname, record.getMessage()) for record in said) == sorted(expected)
    assert application.prepared.issues == ()


@proves("m4.4")
async def test_what_is_refused_today_and_was_stored_before_costs_its_part_and_not_the_application():
    patched = {"type": "predefined", "template_name": "weather", "override": {"type": "mcp"}}
    hook = {
        "event": "on_request_start",
        "tool_name": "recall",
        "arguments": {"q": "${last_user_message[0]}"},
    }
    manifest = {
        "orchestrator": {"deployment": {"deployment_id": "gpt"}, "max_iterations": 0},
        "contexts": [],
        "tool_sets": [patched],
        "hooks": [hook],
    }
    await sync_to_async(store_application)(slug="travel", title="Travel", manifest=manifest)

    application = await resolve_application("travel")

    assert [issue.message for issue in application.prepared.issues] == [
        "tool_sets[0]: The patch of the predefined toolset 'weather' contains `type`, which cannot be patched because it identifies the template; remove it, or write the tool out."
    ]
