"""§14.7 with DIAL Core's storage: files are stored in the caller's folder there."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.errors import InvalidParameter
from apps.workspace.dial.workspace import DialWorkspace
from tests.capabilities.manifests import OTHERWISE, use
from tests.capabilities.web.calls import one_tool, refused, web_features
from tests.contract import proves
from tests.dial_core import Core, serve_core
from tests.dial_core.keys import RequestKey
from tests.dial_core.troubles import Trouble
from tests.servers.internet import internet, ok
from tests.workspace.dial.callers import APPLICATION, workspace

URL = "http://files.example/a"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)
TAKEN = "Parameter save_path is invalid: the file 'a.txt' already exists; choose another name."


@dataclass(frozen=True)
class Place:
    """A Core that calls an application, and the application's workspace."""

    core: Core
    key: RequestKey
    own: DialWorkspace

    @property
    def home(self) -> str:
        return f"files/{self.key.appdata}/"

    def kept(self) -> dict[str, bytes]:
        """Return every file in Core."""
        return {url: item.content for url, item in self.core.storage.items.items()}

    def conditions(self) -> list[str | None]:
        """Return the conditions with which files were written."""
        written = [hop for hop in self.core.requests if hop.method == "PUT"]
        return [hop.headers.get("if-none-match") for hop in written]


@pytest.fixture
def place(settings: Any) -> Iterator[Place]:
    with serve_core() as core, core.request_key(APPLICATION) as key:
        settings.DIAL_URL = core.url
        settings.EXTERNAL_URL_FETCH_ENABLED = True
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        yield Place(core, key, workspace(core.url, key=key.value))


@proves("14.7")
async def test_a_file_of_any_type_is_kept_in_the_callers_own_folder(place):
    features = {**web_features(), "dial_files": {"agent_home_dir": "my notes/"}}
    async with (
        internet({"/a": ok(PNG, content_type="image/png")}),
        one_tool(features=features, workspace=place.own) as fetch,
    ):
        result = await use(fetch, url=URL, save_path="pics/a b.png")

    path = f"{place.home}my%20notes/pics/a%20b.png"
    saved = (Attachment("image/png", "a b.png", url=path),)
    assert result == ToolResult(
        "Saved as pics/a b.png (image/png, 58 bytes).", attachments=saved, propagated=saved
    )
    assert place.kept() == {path: PNG}
    assert place.core.storage.items[path].content_type == "image/png"
    assert place.home.split("/")[1] == place.key.initiator.bucket
    assert place.conditions() == ["*"]


@proves("14.7")
async def test_a_file_is_never_replaced(place):
    mine = {f"{place.home}a.txt": b"mine"}
    for url, content in mine.items():
        place.core.put(url, content)
    async with (
        internet({"/a": ok(b"theirs", content_type="text/plain")}),
        one_tool(workspace=place.own) as fetch,
    ):
        told = await refused(fetch, url=URL, save_path="a.txt")

    assert told == TAKEN
    assert place.kept() == mine


async def test_of_two_that_are_kept_under_one_name_the_second_is_refused(place):
    async with (
        internet({"/a": ok(b"x", content_type="text/plain")}),
        one_tool(workspace=place.own) as fetch,
    ):
        both = [use(fetch, url=URL, save_path="a.txt") for _ in range(2)]
        found = await asyncio.gather(*both, return_exceptions=True)

    told = sorted(str(one) if isinstance(one, InvalidParameter) else "kept" for one in found)
    assert told == [TAKEN, "kept"]
    assert place.kept() == {f"{place.home}a.txt": b"x"}
    assert place.conditions() == ["*", "*"]


@proves("14.7")
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("gone", "DIAL Core disconnected before the end of its response."),
        ("garbage", "DIAL Core sent a response that is not JSON."),
    ],
)
async def test_a_core_that_fails_meanwhile_is_told(kind, told, place):
    place.core.troubles[APPLICATION] = Trouble(kind, path="/v1/files/")
    async with internet({"/a": ok(b"x")}), one_tool(workspace=place.own) as fetch:
        result = await use(fetch, url=URL, save_path="a.txt")

    assert (result.content, result.attachments) == (f"{told}{OTHERWISE}", ())
    assert place.kept() == {}


async def test_a_key_that_has_ended_keeps_nothing(place):
    async with internet({"/a": ok(b"x")}), one_tool(workspace=place.own) as fetch:
        await place.own.files.home()
        place.core.expire(place.key.value)
        result = await use(fetch, url=URL, save_path="a.txt")

    path = f"/v1/{place.home}a.txt"
    assert result.content == (
        f"DIAL Core returned status 401 for PUT {path}: Unknown api key{OTHERWISE}"
    )
    assert place.kept() == {}


async def test_a_file_that_is_too_large_is_not_kept(place, settings):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 10
    async with internet({"/a": ok(bytes(11))}), one_tool(workspace=place.own) as fetch:
        told = await refused(fetch, url=URL, save_path="a.bin")

    assert told.endswith(f"External URL {URL} exceeds the configured file-size limit.")
    assert place.kept() == {}


async def test_what_core_has_is_not_fetched(place):
    async with internet({}) as net, one_tool(workspace=place.own) as fetch:
        told = await refused(fetch, url=f"{place.core.url}/v1/{place.home}a", save_path="a.txt")

    assert "is already in DIAL storage" in told
    assert net.looked_up == []
    assert place.core.requests == []
