"""Files by their address are loaded once, cached, promoted, and refused without leaking secrets."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.errors import FileRefused
from apps.manifest.manifest import Manifest
from apps.workspace.egress.fetch import FetchRefused
from apps.workspace.egress.fetch_policy import FetchPolicy
from apps.workspace.loading.files import LoadedFile
from apps.workspace.loading.loader import Loader
from apps.workspace.loading.shared_loads import Loading, LoadingRules, SingleFlightCache, rules_of
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.manifests import manifest
from tests.contract import proves
from tests.servers.hostile_urls import (
    LIMIT,
    PROMPT,
    SECONDS,
    SLOW,
    Hostile,
    hostile_internet,
    problems,
)
from tests.servers.internet import internet, ok
from tests.tables import each_row

pytestmark = pytest.mark.django_db

URL = "http://files.example/a.csv"


@pytest.fixture(autouse=True)
def _switched_on(settings: Any) -> None:
    settings.EXTERNAL_URL_FETCH_ENABLED = True


def loader(limit: int = LIMIT, seconds: float = 5.0, **rest: Any) -> Loader:
    files = LocalWorkspace(Caller("user-7")).files
    return Loader(files, Loading(LoadingRules(limit, seconds, **rest)))


# --- Loading ----------------------------------------------------------------------------------


async def test_a_stored_file_is_loaded_by_its_path_or_in_the_agents_own_folder():
    own = loader(folder="my notes/")
    await own.files.keep("my notes/x y.txt", b"hello", "text/plain")
    path = "files/user-7/my%20notes/x%20y.txt"
    version = hashlib.sha256(b"hello").hexdigest()
    expected = LoadedFile("x y.txt", "text/plain", b"hello", path, version=version)

    for url in ("files/user-7/my%20notes/x%20y.txt", "/files/user-7/my notes/x y.txt", "x y.txt"):
        assert await own.load(url) == expected


async def test_a_file_of_dial_may_be_named_in_full(settings: Any):
    settings.DIAL_URL = "http://core.example"
    own = loader()
    await own.files.keep("a.txt", b"x", "text/plain")

    async with internet() as net:
        found = await own.load("http://core.example/v1/files/user-7/a.txt")

    assert found.path == "files/user-7/a.txt"
    assert net.looked_up == []


@proves("17")
async def test_fifty_at_the_same_time_load_it_once():
    own = loader()
    async with internet({"/a.csv": ok(b"x", content_type="text/csv")}) as net:
        found = await asyncio.gather(*(own.load(URL) for _ in range(50)))
        again = await own.load(URL)

    assert {*found, again} == {LoadedFile("a.csv", "text/csv", b"x")}
    assert len(net.asked) == 1


async def test_a_failure_is_told_to_all_who_wait_and_tried_again_by_the_next():
    own = loader()
    async with internet() as net:
        both = await asyncio.gather(own.load(URL), own.load(URL), return_exceptions=True)
        net.pages["/a.csv"] = ok(b"now")
        found = await own.load(URL)

    assert [type(each) for each in both] == [FetchRefused, FetchRefused]
    assert (found.content, len(net.asked)) == (b"now", 2)


async def test_who_leaves_does_not_take_the_file_from_the_others():
    own = loader()
    started, gate = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        started.set()
        await gate.wait()
        await ok(b"x")(writer)

    async with internet({"/a.csv": slow}) as net:
        first, second = (asyncio.create_task(own.load(URL)) for _ in range(2))
        await started.wait()
        first.cancel()
        await asyncio.wait([first])
        gate.set()
        assert (await second).content == b"x"

    assert len(net.asked) == 1


async def test_what_nobody_waits_for_any_more_is_broken_off():
    once: SingleFlightCache[str] = SingleFlightCache(10, len)
    started, ended = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError("it never gets here")

    only = asyncio.create_task(once.get("k", work))
    await started.wait()
    only.cancel()

    await asyncio.wait_for(ended.wait(), 60)
    assert once.flights == {}


async def test_what_was_not_used_for_longest_makes_room():
    once: SingleFlightCache[str] = SingleFlightCache(10, len)
    made: list[str] = []

    async def get(text: str) -> None:
        async def make() -> str:
            made.append(text)
            return text

        assert await once.get(text, make) == text

    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb", "x" * 11, "x" * 11):
        await get(text)

    assert made == ["aaaa", "bbbb", "cccc", "bbbb", "x" * 11, "x" * 11]
    assert once.used <= 10


@proves("17")
@pytest.mark.parametrize("url", ["files/user-7/a.csv", URL, "data:,123456"])
async def test_one_limit_holds_wherever_a_file_is(url: str):
    own = loader(limit=5)
    await own.files.keep("a.csv", b"123456", "text/csv")
    async with internet({"/a.csv": ok(b"123456")}):
        for work in (own.take(url), own.promote(url)):
            with pytest.raises(FileRefused, match=r"the limit is 5|file-size limit"):
                await work


@proves("17")
@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://u:p@a.example/x?s3cret", "'ftp://a.example/x' is not a file that can be loaded. "),
        ("data:text/plain,s3cret", "'data:…' is not a file that can be loaded. "),
        ("files/user-7/../user-8/a", "The file 'files/user-7/../user-8/a' does not exist, or you have no access."),
        ("files/user-8/a", "The file 'files/user-8/a' does not exist, or you have no access."),
        ("/etc/passwd", "The file '/etc/passwd' does not exist, or you have no access."),
        ("nothing.txt", "The file 'files/user-7/nothing.txt' does not exist, or you have no access."),
    ],
)  # fmt: skip
async def test_what_is_not_loaded_is_told_without_secrets(url: str, told: str):
    with pytest.raises(FileRefused) as refused:
        await loader().load(url)

    assert str(refused.value).startswith(told)
    assert "s3cret" not in str(refused.value)


async def test_a_workspace_that_does_not_answer_is_not_waited_for():
    class Silent:
        async def read(self, *_: Any, **__: Any) -> Any:
            await asyncio.Event().wait()

    own = Loader(Silent(), Loading(LoadingRules(LIMIT, 0.05)))  # type: ignore[arg-type]

    with pytest.raises(FileRefused, match=r"^Loading the file 'files/b/a' timed out\.$"):
        await own.load("files/b/a")


# --- Promoting --------------------------------------------------------------------------------


@proves("7.5")
async def test_a_file_of_the_internet_becomes_one_of_the_callers_once():
    own = loader()
    async with internet({"/a.csv": ok(b"1,2", content_type="text/csv")}) as net:
        infos = await asyncio.gather(*(own.promote(URL) for _ in range(5)))

    (info,) = set(infos)
    kept = await own.files.read(info.path)
    assert info.path.startswith("files/user-7/loaded/")
    assert info.path.endswith("/a.csv")
    assert (kept.content, kept.info.content_type, len(net.asked)) == (b"1,2", "text/csv", 1)


async def test_files_of_one_name_do_not_replace_each_other():
    own = loader()
    async with internet({"/1/a.csv": ok(b"1"), "/2/a.csv": ok(b"2")}):
        first = await own.promote("http://files.example/1/a.csv")
        second = await own.promote("http://files.example/2/a.csv")

    assert (await own.files.read(first.path)).content == b"1"
    assert (await own.files.read(second.path)).content == b"2"


@pytest.mark.parametrize("options", ["", ";charset=utf-8"])
async def test_a_data_uri_becomes_a_file_also_where_nothing_is_fetched(settings: Any, options: str):
    settings.EXTERNAL_URL_FETCH_ENABLED = False
    own = loader()
    data = base64.b64encode(b"\x89PNG").decode()

    info = await own.promote(f"data:image/png{options};base64,{data}")

    assert info.path == "files/user-7/attachment-0f4636c78f65d363.png"
    assert (await own.files.read(info.path)).content == b"\x89PNG"


async def test_what_is_stored_is_only_looked_up():
    own = loader()
    kept = await own.files.keep("a.csv", b"1", "text/csv")

    assert await own.promote(kept.path) == kept


@proves("7.5", "17")
@each_row("payload", ["c2VjcmV0!!!!", "c2VjcmV0" * 1000, "%ZZc2VjcmV0="])
@each_row("kind", ["image/png;base64", "no type at all;base64", "image/png"])
async def test_no_error_repeats_the_data_of_a_data_uri(kind: str, payload: str):
    with pytest.raises(FileRefused) as refused:
        await loader(limit=5).promote(f"data:{kind},{payload}")

    assert "c2VjcmV0" not in str(refused.value)


@pytest.mark.parametrize(("urls", "seconds"), [(PROMPT, 30), (SLOW, SECONDS)])
async def test_nothing_hostile_is_promoted(urls: list[Hostile], seconds: float):
    own = loader(seconds=seconds)

    async def tell(url: str) -> str:
        with pytest.raises(FileRefused) as refused:
            await own.promote(url)
        return str(refused.value)

    async with hostile_internet() as net:
        assert await problems(net, urls, tell) == {}

    assert await own.files.list("files/user-7/", is_deep=True) == []


# --- Rules ------------------------------------------------------------------------------------


def document(**rest: Any) -> Manifest:
    return manifest(**rest)


@proves("17", "R-13")
def test_an_application_changes_the_rules_of_the_installation(settings: Any):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 100
    settings.CHAT_UPLOAD_MAX_BYTES = 500
    settings.DEFAULT_TOOL_TIMEOUT_SECONDS = 60
    usual = LoadingRules(100, 60.0, document_limit=500)
    fetching = {"enabled": False, "host_allowlist": ["a.example"]}

    assert rules_of(document()) == rules_of(document(features=None)) == usual
    assert rules_of(
        document(
            features={
                "file_loading": {"size_limit": 7},
                "external_url_fetch": fetching,
                "dial_files": {"agent_home_dir": "notes/"},
            },
            tool_defaults={"timeout_seconds": 9},
        )
    ) == LoadingRules(7, 9.0, FetchPolicy(False, ("a.example",)), "notes/", document_limit=7)
