"""Arguments that refer to files: their replacements, and refusals."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.caller import Caller
from apps.agent.events import Event
from apps.agent.stages import silent
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers import file_references
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, wrap_tool
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.file_references import (
    FileReference,
    load_references,
    read_reference,
)
from apps.errors import FileRefused, InvalidParameter
from apps.manifest.toolsets.fallback_strategies import Fallback, HardStop
from apps.manifest.toolsets.parameters import FunctionParameters
from apps.workspace.loading.loader import Loader
from apps.workspace.loading.shared_loads import Loading, LoadingRules
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.manifests import stage_text
from tests.capabilities.wrappers.calls import answering
from tests.contract import proves
from tests.servers.internet import internet, ok
from tests.tables import each_row

pytestmark = pytest.mark.django_db

BINARY = "File appears to be binary ({}). Use base64:: or url:: instead"
HOME = "files/user-7"


async def with_files(limit: int = 1000, **stored: bytes) -> Loader:
    """Return files by name, with `_` for the dot. All have the type text/plain."""
    files = LocalWorkspace(Caller("user-7")).files
    for name, content in stored.items():
        await files.keep(name.replace("_", "."), content, "text/plain; charset=utf-8")
    return Loader(files, Loading(LoadingRules(limit, 5.0)))


async def resolved(loader: Loader, **given: Any) -> Mapping[str, Any]:
    return (await load_references(given, loader)).arguments


async def refusal(loader: Loader, **given: Any) -> str:
    with pytest.raises(InvalidParameter) as refused:
        await load_references(given, loader)
    return str(refused.value)


# --- What a tool gets -------------------------------------------------------------------------


@proves("17")
@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("file:text::", "Größe"),
        ("file:base64::", base64.b64encode("Größe".encode()).decode()),
        ("file:data::", "data:text/plain;charset=utf-8;base64,R3LDtsOfZQ=="),
        ("file:url::", "files/user-7/a.txt"),
        ("FILE:Text::", "Größe"),
        ("//file:text::", "Größe"),
        ("file:text:: ", "Größe"),
    ],
)
async def test_each_prefix_brings_its_own(prefix, expected):
    loader = await with_files(a_txt="Größe".encode())

    assert await resolved(loader, x=f"{prefix}{HOME}/a.txt") == {"x": expected}


@proves("17")
async def test_elements_of_lists_are_resolved_one_level_deep_and_nothing_else_is_touched():
    loader = await with_files(a_txt=b"A")
    reference = f"file:text::{HOME}/a.txt"
    given = {
        "list": [reference, "plain", 7, None, [reference], {"x": reference}],
        "object": {"x": reference},
        "number": 7,
        "none": None,
        "prose": "File: see below",
        "inside": f"see {reference}",
        "lines": f"{reference}\nand more",
        "bare": "files/user-7/a.txt",
        "end": "file:",
    }

    assert await resolved(loader, **given) == {
        **given,
        "list": ["A", "plain", 7, None, [reference], {"x": reference}],
    }


@proves("17")
async def test_a_url_is_never_fetched():
    async with internet() as net:
        for url in ("http://files.example/a", "ftp://x/y", "http://127.0.0.1/", "nonsense:x"):
            assert await resolved(await with_files(), x=f"file:url::{url}") == {"x": url}

    assert (net.looked_up, net.dialled) == ([], [])


async def test_a_file_of_the_internet_is_fetched_and_one_of_the_agents_own_folder_read(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    loader = await with_files(note_txt=b"mine")
    async with internet({"/a.png": ok(b"\x89PNG", content_type="image/png")}):
        found = await resolved(
            loader, x="file:data::http://files.example/a.png", y="file:text::note.txt"
        )

    assert found == {"x": "data:image/png;base64,iVBORw==", "y": "mine"}


@proves("17")
async def test_a_byte_order_mark_is_no_part_of_a_text():
    loader = await with_files(a_txt=b"\xef\xbb\xbfA", b_txt=b"")

    assert await resolved(loader, x=f"file:text::{HOME}/a.txt", y=f"file:text::{HOME}/b.txt") == {
        "x": "A",
        "y": "",
    }


@proves("17")
async def test_arguments_that_take_addresses_get_them_bare():
    names = ["file:text::files/user-7/a b.txt", "file:base64::https://x.example/?q", "files/x"]

    found = await load_references({"to": names, "x": "y"}, await with_files(), {"to"})

    assert found.arguments == {
        "to": ["files/user-7/a b.txt", "https://x.example/?q", "files/x"],
        "x": "y",
    }
    assert found.loaded == frozenset()


# --- What is refused --------------------------------------------------------------------------


@proves("17")
@each_row(
    ("content", "told"),
    [
        (b"\x89PNG\r\n\x1a\n..", BINARY.format("PNG")),
        (b"\xff\xd8\xff\xe0", BINARY.format("JPEG")),
        (b"GIF87a", BINARY.format("GIF")),
        (b"GIF89a", BINARY.format("GIF")),
        (b"%PDF-1.7", BINARY.format("PDF")),
        (b"PK\x03\x04", BINARY.format("ZIP")),
        (b"a\0b", BINARY.format("NUL bytes")),
        (b"caf\xe9", "File is not UTF-8 text (byte 3 is not valid). Use base64:: or url:: instead"),
        (
            "\ufeffA".encode("utf-16-le"),
            "File is not UTF-8 text (byte 0 is not valid). Use base64:: or url:: instead",
        ),
    ],
)
async def test_what_is_no_text_is_refused_as_text_alone(content, told):
    loader = await with_files(a_bin=content)

    assert await refusal(loader, x=f"file:text::{HOME}/a.bin") == f"Parameter x is invalid: {told}"
    assert await resolved(loader, x=f"file:base64::{HOME}/a.bin") == {
        "x": base64.b64encode(content).decode()
    }


MISSING = "Missing required file prefix (base64::, url::, text::)"


@proves("17")
@each_row(
    ("reference", "told"),
    [
        ("file:files/user-7/a.txt", MISSING),
        ("/file:files/user-7/a.txt", MISSING),
        ("file:///etc/passwd", MISSING),
        ("file:json::files/user-7/a.txt", MISSING),
        ("file:text:files/user-7/a.txt", MISSING),
        ("file::files/user-7/a.txt", MISSING),
        ("file:text::", "The file reference 'file:text::' contains no path."),
        ("file:text::files/user-8/a.txt", "The file 'files/user-8/a.txt' does not exist, or you have no access."),
        ("file:text::files/user-7/big.txt", "The file is 1,001 bytes; the limit is 1,000."),
        (
            "file:text::ftp://u:pw@a.example/x?s3cret",
            ("'ftp://a.example/x' is not a file that can be loaded. Use the path of a file (files/…) or an http(s) URL."),
        ),
        (
            "file:data::data:text/plain,s3cret",
            ("'data:…' is not a file that can be loaded. Use the path of a file (files/…) or an http(s) URL."),
        ),
        (
            "file:base64::https://a.example/x?s3cret",
            "External URL fetching is disabled by operator policy (EXTERNAL_URL_FETCH_ENABLED).",
        ),
    ],
)  # fmt: skip
async def test_each_mistake_is_told_at_its_place(reference, told):
    loader = await with_files(a_txt=b"A", big_txt=b"x" * 1001)

    assert await refusal(loader, x=reference) == f"Parameter x is invalid: {told}"
    assert await refusal(loader, x=["", reference]) == f"Parameter x[1] is invalid: {told}"


async def test_one_mistake_refuses_the_call_once_the_others_are_loaded():
    loader = await with_files(a_txt=b"A")

    told = await refusal(loader, x="file:text::gone.txt", y=f"file:text::{HOME}/a.txt")

    assert told.startswith("Parameter x is invalid: The file")
    assert loader.loading.loads.used == 1


async def test_one_call_has_so_many_files_and_bytes(monkeypatch):
    loader = await with_files(a_txt=b"12345")
    reference = f"file:text::{HOME}/a.txt"
    monkeypatch.setattr(file_references, "MOST_FILES", 3)
    monkeypatch.setattr(file_references, "MOST_BYTES", 12)

    assert await resolved(loader, x=[reference] * 2) == {"x": ["12345"] * 2}
    assert await refusal(loader, x=[reference] * 3) == (
        "Parameter x[2] is invalid: The files of one call are too large; the limit is 12 bytes "
        "in total. Use fewer files at once."
    )
    monkeypatch.setattr(file_references, "MOST_FILES", 2)
    assert await refusal(loader, x=[reference] * 3) == (
        "Parameter x[2] is invalid: The call refers to too many files; the limit is 2."
    )


# --- Around a tool ----------------------------------------------------------------------------

PARAMETERS = FunctionParameters.model_validate(
    {
        "type": "object",
        "properties": {"x": {"type": "string"}, "n": {"type": "integer"}},
        "required": [],
    }
)


class Called:
    """A tool in all its wrappers, its arguments, and the stages."""

    def __init__(self, fallback: Fallback | None = None) -> None:
        self.got: list[Mapping[str, Any]] = []
        self.events: list[Event] = []
        arguments = read_arguments(PARAMETERS)
        wishes = ToolOptions(arguments, Display("Look up"), 5, fallback=fallback or Fallback())
        self.tool = wrap_tool(answering(self.note), wishes)

    def note(self, invocation: Invocation) -> ToolResult:
        self.got.append(invocation.arguments)
        return ToolResult("done")

    async def call(self, loader: Loader, **arguments: Any) -> ToolResult:
        caller = Caller("user-7")
        opening = Opening(LocalWorkspace(caller), caller, silent, loading=loader.loading)
        return await self.tool.bind(opening).call(
            Invocation("1", arguments, (), self.events.append)
        )


async def test_the_stage_shows_the_reference_and_the_tool_gets_the_content():
    called = Called()

    await called.call(await with_files(a_txt=b"s3cret"), x=f"file:text::{HOME}/a.txt")

    assert called.got == [{"x": "s3cret"}]
    assert stage_text(called.events) == (
        "> #### Request:\n\r***x:*** file:text::files/user-7/a.txt\n\r"
    )


async def test_what_fails_is_told_to_the_model_whatever_the_fallback_and_shown_in_the_stage():
    called = Called(Fallback(strategies=(HardStop(type="hard_stop"),)))

    with pytest.raises(InvalidParameter) as refused:
        await called.call(await with_files(), x="file:files/a.txt")

    assert str(refused.value) == f"Parameter x is invalid: {MISSING}"
    assert MISSING in stage_text(called.events)
    assert called.got == []


async def test_the_content_is_checked_as_an_argument_and_not_repeated_where_it_does_not_fit():
    called = Called()

    with pytest.raises(InvalidParameter) as refused:
        await called.call(await with_files(a_txt=b"s3cret"), n=f"file:text::{HOME}/a.txt")

    assert str(refused.value) == (
        "Parameter n is invalid: expected integer; found string from a file."
    )


@proves("17")
async def test_fifty_calls_at_the_same_time_load_a_file_once(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    called, loader = Called(), await with_files()
    async with internet({"/a": ok(b"A")}) as net:
        calls = (called.call(loader, x="file:text::http://files.example/a") for _ in range(50))
        await asyncio.gather(*calls)

    assert called.got == [{"x": "A"}] * 50
    assert len(net.asked) == 1


# --- Reading references -----------------------------------------------------------------------

prefixes = st.sampled_from(["base64", "text", "url", "data"])
addresses = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1
).filter(lambda text: text.strip() == text and "\x85" not in text)


@proves("17")
@given(prefixes, addresses, st.integers(0, 3), st.booleans())
def test_a_reference_is_read_as_it_was_written(prefix, url, slashes, loud):
    text = f"{'/' * slashes}file:{prefix}::"

    assert read_reference((text.upper() if loud else text) + url) == FileReference(prefix, url)


@given(st.text())
def test_no_text_is_too_strange_and_most_are_no_references(text):
    try:
        found = read_reference(text)
    except FileRefused:
        found = FileReference("url", "")
    assert found is None or text.lstrip("/").lower().startswith("file:")
