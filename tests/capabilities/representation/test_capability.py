"""The model attaches files and links to its answer."""

import asyncio
import base64
from typing import Any

import pytest

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.representation.capability import MOST_ADDED, representation
from tests.capabilities.manifests import manifest
from tests.capabilities.web.calls import WORKSPACE, one_tool, refused
from tests.contract import proves
from tests.servers.hostile_urls import PAYLOAD, URLS, hostile_internet
from tests.servers.internet import internet

pytestmark = pytest.mark.django_db

FEATURES = {"representation_tooling": {"add_attachment": True}}


async def add(tool: Tool, *messages: ModelMessage, **arguments: Any) -> ToolResult:
    return await tool.call(Invocation("call-1", arguments, messages, silent))


@proves("14.8")
async def test_a_stored_file_is_added_with_its_type():
    info = await WORKSPACE.files.keep("out/a b.csv", b"x", "text/csv")
    async with one_tool(representation, FEATURES) as tool:
        result = await add(tool, url=info.path)
        again = await add(tool, url="out/a b.csv", title="The same")
        named = await add(tool, url=f"file:url::/{info.path}")

    attachment = Attachment("text/csv", "a b.csv", url="files/user-7/out/a%20b.csv")
    assert result == ToolResult(
        "'a b.csv' is now an attachment of the answer.", "text/plain", propagated=(attachment,)
    )
    assert [again, named] == [
        ToolResult("'The same' is already an attachment of the answer.", "text/plain"),
        ToolResult("'a b.csv' is already an attachment of the answer.", "text/plain"),
    ]


@proves("14.8")
@pytest.mark.parametrize(
    ("url", "kind", "title"),
    [
        ("https://files.example/a/b%20c.png?size=2", "image/png", "b c.png"),
        ("https://files.example/report", "*/*", "report"),
        ("https://files.example/?q=secret", "*/*", "https://files.example/"),
    ],
)
async def test_a_link_stays_a_link(url, kind, title):
    async with internet() as net, one_tool(representation, FEATURES) as tool:
        result = await add(tool, url=url)

    assert result.propagated == (Attachment(kind, title, url=url, reference_url=url),)
    assert "secret" not in result.content
    assert net.looked_up == []


@proves("14.8")
async def test_a_link_of_the_conversation_keeps_its_type_and_title():
    url = "https://files.example/chart?id=1"
    said = ModelMessage("tool", attachments=(Attachment("image/svg+xml", "Sales", url=url),))
    async with one_tool(representation, FEATURES) as tool:
        result = await add(tool, said, url=url)

    assert result.propagated == (Attachment("image/svg+xml", "Sales", url=url, reference_url=url),)


@proves("14.8")
async def test_the_title_is_what_the_model_says_in_one_line():
    async with one_tool(representation, FEATURES) as tool:
        result = await add(tool, url="https://files.example/a", title=" The\n  report ")

    assert [attachment.title for attachment in result.propagated] == ["The report"]


async def test_what_stands_in_a_data_uri_becomes_a_file():
    uri = f"data:text/plain;base64,{base64.b64encode(b'hello').decode()}"
    async with one_tool(representation, FEATURES) as tool:
        result = await add(tool, url=uri, title="Greeting")

    (attachment,) = result.propagated
    assert attachment.type == "text/plain"
    assert attachment.url is not None
    assert (await WORKSPACE.files.read(attachment.url)).content == b"hello"


@proves("14.8")
async def test_fifty_calls_at_the_same_time_add_it_once():
    await WORKSPACE.files.keep("a.csv", b"x", "text/csv")
    async with one_tool(representation, FEATURES) as tool:
        results = await asyncio.gather(*(add(tool, url="a.csv") for _ in range(50)))

    assert sum(len(result.propagated) for result in results) == 1


@proves("14.8")
async def test_an_answer_is_no_wall_of_attachments():
    async with one_tool(representation, FEATURES) as tool:
        for number in range(MOST_ADDED):
            await add(tool, url=f"https://files.example/{number}")
        told = await refused(tool, url="https://files.example/more")

    assert told == (
        "Parameter url is invalid: the answer already has 50 attachments of this kind, which is "
        "the limit."
    )


@proves("14.8")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (
            "files/user-7/none.txt",
            "The file 'files/user-7/none.txt' does not exist, or you have no access.",
        ),
        (
            "files/user-8/a.txt",
            "The file 'files/user-8/a.txt' does not exist, or you have no access.",
        ),
        ("javascript:alert(1)", "cannot be attached."),
        ("data:secret", "A data: URI has no comma before its data."),
        ("https://files.example@evil.example/", "contains a username or password; remove them."),
        ("https://u:secret@files.example/", "contains a username or password; remove them."),
    ],
)
async def test_what_cannot_be_opened_is_not_added(url, reason):
    await WORKSPACE.files.keep("a.txt", b"x", "text/plain")
    async with one_tool(representation, FEATURES) as tool:
        told = await refused(tool, url=url)

    assert reason in told
    assert "secret" not in told


async def test_nothing_hostile_is_contacted_or_repeated():
    async with hostile_internet() as net, one_tool(representation, FEATURES) as tool:
        results = await asyncio.gather(
            *(add(tool, url=each.url.replace("{secret}", str(net.secret))) for each in URLS),
            return_exceptions=True,
        )

    told = [r.content if isinstance(r, ToolResult) else str(r) for r in results]
    assert [text for text in told if PAYLOAD in text] == []
    assert (net.looked_up, net.dialled, net.betrayed) == ([], [], False)
    urls = [a.url or "" for r in results if isinstance(r, ToolResult) for a in r.propagated]
    assert {url.partition(":")[0] for url in urls} == {"http"}
    assert [url for url in urls if "@" in url] == []


@proves("14.8")
@pytest.mark.parametrize("wanted", [None, {"add_attachment": False}])
def test_an_application_that_does_not_ask_for_it_has_no_tool(wanted):
    assert representation.prepare(manifest(features={"representation_tooling": wanted})) is None
