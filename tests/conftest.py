"""Hooks and fixtures that every test may use."""

from __future__ import annotations

import gc
import inspect
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from asgiref.sync import async_to_sync
from hypothesis.internal.detection import is_hypothesis_test

from tests import folders
from tests.durations import REPORTS, recorded_tests
from tests.groups import GroupScheduling, rank_of
from tests.launched import LAUNCHED
from tests.measure import MeasurePlugin

# The speed of a machine, and its load, are not what a test is about. Examples are the same in each run.
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
    """Use plain static files, even if somebody has built some here, and cheap password hashes."""
    from django.conf import settings

    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": plain}}
    settings.WHITENOISE_AUTOREFRESH = True  # or each test client would list all of them
    # A good one takes a quarter of a second for each account.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

    for database in settings.DATABASES.values():
        if database["ENGINE"] == "quickapps_site.sqlite":  # no name that pytest-django knows
            database["TEST"] = {**database.get("TEST", {}), "NAME": ":memory:"}

    from tests import emptying

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


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """No collection of garbage looks again through all that is imported by now."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutine tests with `async_to_sync`: the database is on the thread that rolls it back."""
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
    from tests import migrated

    migrated.use_templates()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Threads that keep their connection would not let go of the database that is dropped."""
    LAUNCHED["databases"] += 1
    yield
    from django.db import connection

    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(autouse=True)
def nothing_is_kept_between_tests() -> Iterator[None]:
    yield
    forget_rolled_back_rows()


def forget_rolled_back_rows() -> None:
    """Rows that are rolled back come again with the same ids and versions, so the process must forget."""
    from apps.capabilities.mcp import pins
    from apps.catalog import resolve
    from apps.workspace.dial import kept_applications, metadata
    from apps.workspace.local import breakers, deployments, fallbacks, mcp_servers

    resolve.forget()
    kept_applications.forget()
    metadata.forget()
    deployments.forget()
    fallbacks.forget()
    breakers.forget()
    mcp_servers.forget()
    pins.forget()
    forget_memories()
    forget_triggers()
    forget_budgets()
    forget_rows_that_wait()


def forget_memories() -> None:
    # Few tests need this module, which imports NumPy.
    if (module := sys.modules.get("apps.workspace.memories.cache")) is not None:
        module.CACHE.clear()


def forget_triggers() -> None:
    for name in ("apps.triggers.deliveries", "apps.triggers.mail_notices"):
        if (module := sys.modules.get(name)) is not None:
            module.forget()


def forget_budgets() -> None:
    if (module := sys.modules.get("apps.live.hub")) is not None:
        module.HUB.budgets.forget()
    for name in ("apps.insights.prices", "apps.insights.budgets.costs"):
        if (module := sys.modules.get(name)) is not None:
            module.forget()


def forget_rows_that_wait() -> None:
    """Or a later test that ends the process in earnest would write and keep them."""
    if (module := sys.modules.get("apps.live.hub")) is not None:
        writer = module.HUB.summaries
        for rows in (writer.over, *(queue.rows for queue in writer.queues)):
            rows.clear()
        writer.going.clear()
        writer.task = writer.flushing = None


@pytest.fixture(autouse=True)
def descriptions_are_pinned_where_there_is_a_database(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.node.get_closest_marker("django_db") is None:
        monkeypatch.setattr("django.conf.settings.MCP_PINNED_DESCRIPTIONS", False)


@pytest.fixture(autouse=True)
def nothing_more_comes_of_refused_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients in the process of the test do not go on sending, so nobody need wait for them."""
    monkeypatch.setattr("apps.doors.bodies.LINGERING_SECONDS", 0.01)


@pytest.fixture(autouse=True)
def the_process_reads_and_writes_in_the_transaction_of_the_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a thread of its own, what it writes each second would stay for the tests that follow."""
    from apps.live.database import on_a_thread
    from apps.live.hub import HUB

    monkeypatch.setattr(HUB.budgets, "execute", on_a_thread)
    monkeypatch.setattr(HUB.summaries, "execute", on_a_thread)


@pytest.fixture(autouse=True)
def models_are_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.conf.settings.MODEL_RETRY_SECONDS", 0.01)


@pytest.fixture(autouse=True)
def models_write_no_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A title is one more call of the model, which the scripts of most tests do not have."""
    monkeypatch.setattr("django.conf.settings.CONVERSATION_TITLES", "question")


@pytest.fixture(autouse=True)
def the_transaction_of_the_test_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels closes "old" connections around its work; this one holds what is rolled back."""
    from django.db import connections

    monkeypatch.setattr(connections["default"], "close_if_unusable_or_obsolete", lambda: None)


@pytest.fixture
def nothing_predefined(settings: Any, tmp_path: Path) -> None:
    """An installation without prompts, tools and skills: models are told what the test says."""
    settings.PREDEFINED_DIR = tmp_path


@pytest.fixture
def storage(settings: Any, tmp_path: Path) -> Path:
    """The folder of stored files, empty."""
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def loopback(settings: Any) -> None:
    """Addresses of this machine may be asked, where the servers of tests are."""
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
