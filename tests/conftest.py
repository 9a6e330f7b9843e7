"""Hooks and fixtures that every test may use."""

from __future__ import annotations

import gc
import inspect
import os
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import time_machine
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.utils import timezone, translation
from hypothesis.internal.detection import is_hypothesis_test

from apps.agent.answers import replies
from apps.process_state import reset
from tests.durations import REPORTS, recorded_tests
from tests.suite import folders
from tests.suite.groups import GroupScheduling, rank_of
from tests.suite.launched import LAUNCHED
from tests.suite.measure import MeasurePlugin

# The speed and load of the machine must not affect a test. Examples are the same in each run.
hypothesis.settings.register_profile(
    "any machine",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "fuzz", hypothesis.settings.get_profile("any machine"), derandomize=False, database=None
)
hypothesis.settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reports",
        default=str(REPORTS / "last"),
        help="The folder to write junit.xml and measured.json to.",
    )
    parser.addoption(
        "--soak-seconds",
        type=float,
        default=60.0,
        help="How long each test with the marker `soak` runs.",
    )
    parser.addoption(
        "--fuzz",
        action="store_true",
        help="Give property tests the marker `soak`, and random examples until --soak-seconds are over.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.option.xmlpath = config.option.xmlpath or f"{config.getoption('--reports')}/junit.xml"
    config.pluginmanager.register(MeasurePlugin(config, recorded_tests()))
    if config.getoption("--fuzz"):
        hypothesis.settings.load_profile("fuzz")
    use_fast_settings()


def use_fast_settings() -> None:
    """Use plain static files, even if built ones exist, and cheap password hashes."""
    from django.conf import settings

    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": plain}}
    settings.WHITENOISE_AUTOREFRESH = True  # or each test client would list all of them
    # A good one takes a quarter of a second for each account.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

    from tests.databases import emptying

    emptying.install()


def pytest_itemcollected(item: pytest.Item) -> None:
    if folders.is_full(item.nodeid, {marker.name for marker in item.iter_markers()}):
        item.add_marker(pytest.mark.full)
    if item.config.getoption("--fuzz") and is_property(item):
        item.add_marker(pytest.mark.soak)


def is_property(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank_of(item.nodeid.partition("::")[0]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    return GroupScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import all tests without garbage collections, which would take half of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude all imported objects from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutine tests with `async_to_sync`, because the thread of the test rolls the database
    back."""
    if pyfuncitem.config.getoption("--fuzz") and is_property(pyfuncitem):
        fuzz(pyfuncitem)
        return True
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    async_to_sync(pyfuncitem.obj)(**{name: pyfuncitem.funcargs[name] for name in names})
    return True


def fuzz(pyfuncitem: pytest.Function) -> None:
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    deadline = time.monotonic() + pyfuncitem.config.getoption("--soak-seconds")
    while time.monotonic() < deadline:
        pyfuncitem.obj(**arguments)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    from tests.databases import migrated

    migrated.use_templates()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Close the connections of other threads, which would block dropping the database."""
    LAUNCHED["databases"] += 1
    yield
    from django.db import connection

    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="module", autouse=True)
def settings_and_environment_are_restored() -> Iterator[None]:
    """Fail if a module changes a setting or an environment variable for the tests that follow."""
    from django.conf import settings

    def state() -> tuple[dict[str, Any], dict[str, str]]:
        values: Any = settings
        return dict(vars(values._wrapped)), {**os.environ, "PYTEST_CURRENT_TEST": ""}

    before = state()
    yield
    changed = {
        name
        for old, new in zip(before, state(), strict=True)
        for name in old.keys() | new.keys()
        if old.get(name) is not new.get(name) and old.get(name) != new.get(name)
    }
    assert changed == set()


@pytest.fixture(autouse=True)
def nothing_is_kept_between_tests() -> Iterator[None]:
    """Clear the caches, because rolled-back rows return with the same ids and versions. A request
    leaves its language and time zone to its thread, which is that of the next test."""
    yield
    reset()
    cache.clear()
    translation.deactivate()
    timezone.deactivate()


@pytest.fixture
def at_noon() -> Iterator[None]:
    """Start shortly after noon, because windows and sums begin anew with a minute, hour or day."""
    noon = timezone.now().replace(hour=12, minute=10, second=5)
    with time_machine.travel(noon):
        yield


@pytest.fixture
def nothing_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep cached rows for the whole test, also on a slow machine, so that queries can be counted."""
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    monkeypatch.setattr("apps.accounts.authentication.KEY_MAX_AGE_SECONDS", 600.0)


@pytest.fixture(autouse=True)
def descriptions_are_pinned_where_there_is_a_database(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.node.get_closest_marker("django_db") is None:
        monkeypatch.setattr("django.conf.settings.MCP_PINNED_DESCRIPTIONS", False)


@pytest.fixture(autouse=True)
def nothing_more_comes_of_refused_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the rest of refused bodies, which clients in the process of the test never
    send."""
    monkeypatch.setattr("apps.doors.bodies.LINGERING_SECONDS", 0.01)


@pytest.fixture(autouse=True)
def the_process_reads_and_writes_in_the_transaction_of_the_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Read and write periodic rows in the thread of the test. Another thread would commit them for
    the tests that follow."""
    from apps.live.database import on_a_thread
    from apps.live.hub import HUB

    monkeypatch.setattr(HUB.budgets, "execute", on_a_thread)
    monkeypatch.setattr(HUB.summaries, "execute", on_a_thread)


@pytest.fixture(autouse=True)
def models_are_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = replace(replies.BACKOFF, initial_delay=0.01)
    for module in ("runs.preparation", "capabilities.documents.scans"):
        monkeypatch.setattr(f"apps.{module}.BACKOFF", at_once)


@pytest.fixture(autouse=True)
def models_write_no_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not request titles, which are an extra model call that most tests do not script."""
    monkeypatch.setattr("django.conf.settings.CONVERSATION_TITLES", "question")


@pytest.fixture
def quick_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the demo model send its words without delay."""
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 0)


@pytest.fixture(autouse=True)
def the_transaction_of_the_test_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the connection of the test open, which Channels would close as "old" around its work.

    If the tested code has an open transaction at that time, the test fails: the transaction would
    be lost with its connection.
    """
    from django.db import connections

    connection = connections["default"]

    def check() -> None:
        blocks: list[Any] = connection.atomic_blocks
        own = [block for block in blocks if not block._from_testcase]
        assert not own, "The connection of an open transaction is closed."

    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", check)


@pytest.fixture
def nothing_predefined(settings: Any, tmp_path: Path) -> None:
    """Use no predefined prompts, tools and skills, so that models get only the texts of the test."""
    settings.PREDEFINED_DIR = tmp_path


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param(
            "postgresql",
            marks=pytest.mark.skipif(
                "TEST_DATABASE_URL" not in os.environ, reason="needs TEST_DATABASE_URL"
            ),
        ),
    ]
)
def engine(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Return the settings with which processes of a test use this database."""
    if request.param == "sqlite":
        yield {}
        return
    from tests.databases.postgresql import address_of, database

    with database() as name:
        yield {"DATABASE_URL": address_of(name)}


@pytest.fixture
def storage(settings: Any, tmp_path: Path) -> Path:
    """Return the empty folder of stored files."""
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def loopback(settings: Any) -> None:
    """Allow requests to the loopback addresses of test servers."""
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
