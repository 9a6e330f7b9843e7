"""The model reads web pages: what it gets, what is stored, and what is refused."""

import asyncio
from typing import Any

import pytest

from apps.agent.events import Event
from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.capabilities.web.capability import TOOL_NAME, web
from apps.errors import InitializationIssue
from tests.capabilities.manifests import manifest, stage_text, use
from tests.capabilities.web.calls import WORKSPACE, one_tool, refused, web_features
from tests.contract import proves
from tests.servers.internet import internet, ok
from tests.tables import each_row

pytestmark = pytest.mark.django_db

HOST = "http://files.example"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)


@pytest.fixture(autouse=True)
def _switched_on(settings: Any) -> None:
    settings.EXTERNAL_URL_FETCH_ENABLED = True


# --- Shown to the model -----------------------------------------------------------------------


@proves("14.7")
async def test_a_text_is_shown_in_a_code_block():
    async with internet({"/a": ok(b"x,y\r\n1,2", content_type="text/csv")}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/a")

    assert result == ToolResult("```csv\nx,y\n1,2\n```")


@proves("14.7")
async def test_a_page_is_shown_as_markdown_with_whole_links():
    page = b"""<html><head><title>T</title><style>b{}</style></head><body>
        <script>alert(1)</script><h1>News</h1><p>See <a href="/more?page=2">more</a>.</p>
        <table><tr><th>a</th></tr><tr><td>1</td></tr></table></body></html>"""
    async with internet({"/": ok(page, content_type="text/html")}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/?q=1")

    assert result.content == (
        "```markdown\n# T\n\n# News\n\n"
        "See [more](http://files.example/more?page=2).\n\n"
        "| a |\n| --- |\n| 1 |\n```"
    )


@proves("14.7")
async def test_a_text_cannot_leave_its_code_block():
    async with (
        internet({"/a": ok(b"```\nout\n````", content_type="text/plain")}),
        one_tool() as fetch,
    ):
        result = await use(fetch, url=f"{HOST}/a")

    assert result.content == "`````\n```\nout\n````\n`````"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("Grüße".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
        ("\ufeffGrüße".encode(), "text/plain"),
        ("Grüße".encode("utf-16"), "text/plain"),
        ("Grüße".encode(), "text/plain; charset=nonsense"),
        ("Grüße".encode(), "text/plain; charset=idna"),
        ("Grüße".encode(), "application/octet-stream"),
    ],
)
async def test_a_text_is_read_in_its_encoding(body, content_type):
    async with internet({"/a": ok(body, content_type=content_type)}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/a")

    assert result.content == "```\nGrüße\n```"


async def test_a_page_may_tell_its_encoding_itself():
    page = '<meta charset="windows-1250"><p>Žluťoučký</p>'.encode("cp1250")
    async with internet({"/": ok(page, content_type="text/html")}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/")

    assert result.content == "```markdown\nŽluťoučký\n```"


@proves("14.7")
async def test_of_a_long_text_the_beginning_is_shown_to_the_end_of_a_line():
    body = b"".join(b"line %d\n" % number for number in range(1_000))
    async with (
        internet({"/a": ok(body, content_type="text/plain")}),
        one_tool(features=web_features(max_inline_size=250)) as fetch,
    ):
        result = await use(fetch, url=f"{HOST}/a")

    notice, _, block = result.content.partition("\n\n")
    assert notice == (
        "The content is too large to be shown as a whole: text/plain, 8,890 bytes. This is its "
        "beginning; call again with save_path to save all of it as a file."
    )
    assert block == "```\n" + "\n".join(f"line {number}" for number in range(12)) + "\n```"


@proves("14.7", "D-11")
@pytest.mark.parametrize("text", ["ü" * 500, "`" * 500, "a\n" * 300, "\n" * 500, "x" * 199 + "ü\n"])
@each_row("most", [1, 2, 100, 155, 170, 200, 210, 300])
async def test_a_result_is_always_below_the_limit(text, most):
    async with (
        internet({"/a": ok(text.encode(), content_type="text/plain")}),
        one_tool(features=web_features(max_inline_size=most)) as fetch,
    ):
        result = await use(fetch, url=f"{HOST}/a")

    assert len(result.content.encode()) < most


async def test_without_a_limit_of_its_own_the_installations_applies(settings):
    settings.TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD = 180
    async with internet({"/a": ok(b"a\n" * 200, content_type="text/plain")}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/a")

    assert result.content.startswith("The content is too large")
    assert len(result.content) < 180


async def test_the_call_is_shown():
    events: list[Event] = []
    async with internet({"/a": ok(b"x", content_type="text/plain")}), one_tool() as fetch:
        await use(fetch, events.append, url=f"{HOST}/a")

    assert stage_text(events) == (
        "> #### Request:\n\r***url:*** http://files.example/a\n\r> #### Result:\n\n```\nx\n```\n"
    )


@proves("14.7")
async def test_fifty_calls_at_the_same_time_are_one_request():
    page = ok(b"<h1>a</h1>", content_type="text/html")
    async with internet({"/a": page}) as net, one_tool() as fetch:
        results = await asyncio.gather(*(use(fetch, url=f"{HOST}/a") for _ in range(50)))
        await use(fetch, url=f"{HOST}/a", save_path="a.html")

    assert {result.content for result in results} == {"```markdown\n# a\n```"}
    assert len(net.asked) == 1


LONG_TO_CONVERT = ok(b"<blockquote>" * 55 + b"<p>a<br>" * 30_000, content_type="text/html")


async def test_a_page_that_takes_too_much_to_convert_is_shown_as_it_was_written(monkeypatch):
    monkeypatch.setattr("apps.workspace.loading.files.DOCUMENT_BYTES", 64 * 1024 * 1024)
    async with internet({"/a": LONG_TO_CONVERT}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/a")

    assert result.content.startswith("The content is too large")
    assert "<blockquote><blockquote>" in result.content
    assert len(result.content.encode()) < 40_000


@pytest.mark.slow("waits for servers that never answer")
@pytest.mark.full
async def test_a_page_that_takes_long_to_convert_is_shown_in_time():
    async with internet({"/a": LONG_TO_CONVERT}), one_tool() as fetch, asyncio.timeout(60):
        result = await use(fetch, url=f"{HOST}/a")

    assert result.content.startswith("The content is too large")
    assert len(result.content.encode()) < 40_000


# --- Kept -------------------------------------------------------------------------------------


@proves("14.7")
async def test_a_file_of_any_type_is_kept_in_the_agents_own_folder():
    features = {**web_features(), "dial_files": {"agent_home_dir": "my notes/"}}
    async with (
        internet({"/a": ok(PNG, content_type="image/png")}),
        one_tool(features=features) as fetch,
    ):
        result = await use(fetch, url=f"{HOST}/a?x=1", save_path="pics/a b.png")

    path = "files/user-7/my%20notes/pics/a%20b.png"
    saved = (Attachment("image/png", "a b.png", url=path),)
    assert result == ToolResult(
        "Saved as pics/a b.png (image/png, 58 bytes).", attachments=saved, propagated=saved
    )
    assert (await WORKSPACE.files.read(path)).content == PNG


@proves("14.7")
async def test_of_a_text_that_is_kept_the_beginning_is_shown():
    page = b"<h1>Hello</h1>"
    async with internet({"/a": ok(page, content_type="text/html")}), one_tool() as fetch:
        result = await use(fetch, url=f"{HOST}/a", save_path="a.html")

    assert result.content == ("Saved as a.html (text/html, 14 bytes).\n\n```markdown\n# Hello\n```")
    assert (await WORKSPACE.files.read("files/user-7/a.html")).content == page


async def test_a_file_is_never_replaced():
    await WORKSPACE.files.keep("a.txt", b"mine", "text/plain")
    async with internet({"/a": ok(b"theirs", content_type="text/plain")}), one_tool() as fetch:
        told = await refused(fetch, url=f"{HOST}/a", save_path="a.txt")

    assert told == (
        "Parameter save_path is invalid: the file 'a.txt' already exists; choose another name."
    )
    assert (await WORKSPACE.files.read("files/user-7/a.txt")).content == b"mine"


@proves("14.7")
@each_row(
    "path",
    [
        *(
            "",
            "/a",
            "files/user-7/a",
            "../a",
            "a/../b",
            "a/%2e%2E/b",
            "a//b",
            "a/",
            "a ",
            "a /b",
            ".",
        ),
        *("a\\b", "a%5cb", "a%2fb", "a%2f..%2fb", "a\0", "a%00", "a\nb", "a%0ab", "%20", "a%20"),
    ],
)
async def test_nothing_is_fetched_for_a_path_that_leads_elsewhere(path):
    async with internet({"/a": ok(b"x")}) as net, one_tool() as fetch:
        told = await refused(fetch, url=f"{HOST}/a", save_path=path)

    assert told.startswith("Parameter save_path is invalid: ")
    assert net.looked_up == []


# --- Refused ----------------------------------------------------------------------------------


@proves("14.7")
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (PNG, "image/png"),
        (PNG, "text/plain"),
        (b"%PDF-1.7\n", "text/plain"),
        (b"a\0b", "text/plain"),
        (bytes(range(128, 256)), "application/octet-stream"),
        (b"text", "application/zip"),
    ],
)
async def test_what_is_not_text_is_not_shown(body, content_type):
    async with internet({"/a": ok(body, content_type=content_type)}), one_tool() as fetch:
        told = await refused(fetch, url=f"{HOST}/a?secret=1")

    assert told == (
        f"Parameter url is invalid: the content ({content_type}, {len(body)} bytes) is not text, "
        "so it cannot be shown. Set save_path to save it as a file."
    )


@proves("14.7")
@pytest.mark.parametrize(
    "url",
    [
        "files/b/a.txt",
        "/files/b/a.txt",
        "file:url::files/b/a.txt",
        "http://core.example/v1/files/b/a.txt?secret=1",
        "HTTP://u:secret@core.example/files/b/a",
    ],
)
async def test_what_is_in_dial_storage_is_not_fetched(settings, url):
    settings.DIAL_URL = "http://core.example"
    async with internet() as net, one_tool() as fetch:
        told = await refused(fetch, url=url)

    assert "is already in DIAL storage, so there is nothing to fetch." in told
    assert "secret" not in told
    assert net.looked_up == []


@pytest.mark.parametrize("url", ["", "notes.txt", "ftp://files.example/a", "data:,secret", "//a/b"])
async def test_what_is_no_web_address_is_not_fetched(url):
    async with internet() as net, one_tool() as fetch:
        told = await refused(fetch, url=url)

    assert told.endswith("cannot be fetched. Use an http(s) URL.")
    assert "secret" not in told
    assert net.looked_up == []


@proves("14.7")
@pytest.mark.parametrize(
    ("features", "enabled", "reason"),
    [
        ({}, False, "disabled by operator policy (EXTERNAL_URL_FETCH_ENABLED)."),
        (
            {"external_url_fetch": {"enabled": False}},
            True,
            "disabled by this app (features.external_url_fetch.enabled=false).",
        ),
    ],
)
def test_where_nothing_may_be_fetched_there_is_no_tool(settings, features, enabled, reason):
    settings.EXTERNAL_URL_FETCH_ENABLED = enabled

    with pytest.raises(InitializationIssue) as issue:
        web.prepare(manifest(features={**web_features(), **features}))

    assert issue.value.is_hard
    assert issue.value.message == (
        f"features.web_fetch: the tool '{TOOL_NAME}' is left out. External URL fetching is {reason}"
    )


@proves("14.7")
@pytest.mark.parametrize("features", [None, {}, {"web_fetch": None}, {"web_fetch": {}}])
def test_an_application_that_does_not_ask_for_it_has_no_tool(features):
    assert web.prepare(manifest(features=features)) is None
