"""Answers of a service: for the model, in the stage, as a file; and missing answers."""

import asyncio
import gzip
import json

import pytest

from apps.agent.events import Event, StageAttachment, StageClosed, StageDelta, StageOpened
from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.capabilities.rest.capability import rest
from tests.capabilities.manifests import (
    OTHERWISE,
    Files,
    ReadOnlyFiles,
    manifest,
    opened,
    parameter,
    stage_text,
    timeless,
    tool,
    tool_set,
    use,
)
from tests.capabilities.service import Reply, Seen, json_reply, serving
from tests.contract import proves
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")


@proves("8")
async def test_an_answer_goes_to_the_model_and_is_shown_in_the_stage():
    events: list[Event] = []
    async with serving(json_reply('{"eta":"é"}')) as service:
        document = manifest(
            tool_set(
                tool(
                    f"{service.url}/{{id}}",
                    properties={"id": parameter("url", "id")},
                    required=("id",),
                ),
                name={"en": "Parcels", "de": "Pakete"},
            )
        )

        async with opened(rest, document) as contribution:
            (item,) = contribution.tools
            result = await use(item, events.append, id="7")

    assert item.spec.name == "Parcels_look_up"
    assert result == ToolResult('{"eta":"é"}', "application/json")
    assert timeless(events) == [
        StageOpened("call-1", "Parcels · look_up"),
        StageDelta("call-1", "> #### Request:\n\r***id:*** 7\n\r"),
        StageDelta("call-1", '> ##### Response:\n\n```json\n{\n    "eta": "é"\n}\n```\n'),
        StageClosed("call-1", 0.0),
    ]


@proves("8")
@each_row(
    ("content_type", "body", "text"),
    [
        ("text/plain; charset=latin-1", b"caf\xe9", "café"),
        ("text/plain; charset=nonsense", "café".encode(), "café"),
        ("text/plain; charset=hex", "café".encode(), "café"),
        ("text/plain", b"caf\xe9", "café"),
        ("text/plain", b"\xef\xbb\xbfok", "ok"),
        ("text/plain; charset=utf-16", "ok".encode("utf-16"), "ok"),
        ("text/plain", "ok".encode("utf-32"), "ok"),
        (
            "application/xml",
            '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>'.encode("latin-1"),
            '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>',
        ),
        ("text/html", '<meta charset="cp1251">да'.encode("cp1251"), '<meta charset="cp1251">да'),
        ("", b"bare", "bare"),
        (
            "image/png",
            b"\x89PNG\r\n\x1a\n\0\0",
            "The service returned 10 bytes of image/png, which is not text.",
        ),
        (
            "",
            b"\0\1",
            "The service returned 2 bytes of application/octet-stream, which is not text.",
        ),
        ("text/plain", b"", "The service returned 200 OK without a body."),
    ],
)
async def test_the_model_gets_text_whatever_the_charset(content_type, body, text):
    headers = {"Content-Type": content_type} if content_type else {}
    async with serving(Reply(200, body, headers)) as service:
        document = manifest(tool_set(tool(f"{service.url}/a")))
        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert result.content == text


@proves("8")
@pytest.mark.parametrize(
    ("status", "text"),
    [
        (404, "shop_look_up: the service returned 404 Not Found"),
        (429, "shop_look_up: the service returned 429 Too Many Requests"),
        (599, "shop_look_up: the service returned 599"),
        (304, "shop_look_up: the service returned 304 Not Modified"),
    ],
)
async def test_the_model_is_told_the_status_of_an_error_and_the_person_its_body(status, text):
    events: list[Event] = []
    async with serving(Reply(status, b"" if status == 304 else b"why: ```", {})) as service:
        document = manifest(tool_set(tool(f"{service.url}/a")))
        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0], events.append)

    shown = text.partition("returned ")[2]
    body = "No response text available" if status == 304 else "````text\nwhy: ```\n````"
    assert result.content == f"{text}{OTHERWISE}"
    assert stage_text(events).endswith(
        f"> ##### Status Code:\n\n{shown}\n\n> ##### Response:\n\n{body}\n"
    )
    assert timeless(events)[-1] == StageClosed("call-1", 0.0, excused=True)


@proves("8")
async def test_an_answer_that_is_too_large_is_refused_packed_or_not():
    limit = {"file_loading": {"size_limit": 1000}}
    packed = gzip.compress(b"x" * 100_000)
    replies = (
        Reply(200, b"x" * 1001),
        Reply(200, packed, {"Content-Encoding": "gzip"}),
        Reply(200, b"x" * 1000),
    )
    async with serving(*replies) as service:
        document = manifest(tool_set(tool(f"{service.url}/a")), features=limit)
        async with opened(rest, document) as contribution:
            results = [(await use(contribution.tools[0])).content for _ in replies]

    refused = "shop_look_up: the response is too large; the limit is 1000 bytes. Request less data at once."
    assert results == [f"{refused}{OTHERWISE}", f"{refused}{OTHERWISE}", "x" * 1000]


@proves("8")
async def test_a_redirect_is_followed_on_the_host_and_nowhere_else():
    async with serving(json_reply('"secret"')) as other:

        async def answer(seen: Seen) -> Reply:
            places = {"/away": other.url, "/next?a=1": "/end?b=2", "/loop": "/loop"}
            place = places.get(seen.target, "")
            return Reply(302, b"", {"Location": place}) if place else json_reply('"end"')

        async with serving(answer=answer) as service:
            paths = ("next?a=1", "away", "loop")
            tools = [tool(f"{service.url}/{path}") for path in paths]
            async with opened(rest, manifest(tool_set(*tools))) as contribution:
                results = [(await use(item)).content for item in contribution.tools]

    assert results == [
        '"end"',
        "shop_look_up: the service returned 302 Found and redirects to another URL, which is "
        f"not followed{OTHERWISE}",
        f"shop_look_up: the service redirected too many times.{OTHERWISE}",
    ]
    assert other.seen == []


@proves("8")
@pytest.mark.parametrize(
    ("status", "asked"),
    [(303, ("GET", b"")), (301, ("GET", b"")), (307, ("PUT", b"{}")), (308, ("PUT", b"{}"))],
)
async def test_a_redirect_keeps_the_method_where_it_says_so(status, asked):
    replies = (Reply(status, b"", {"Location": "/end"}), json_reply("1"))
    async with serving(*replies) as service:
        document = manifest(tool_set(tool(f"{service.url}/a", "put")))
        async with opened(rest, document) as contribution:
            await use(contribution.tools[0])

    assert (service.seen[1].method, service.seen[1].body) == asked


@proves("8", "13.3")
async def test_a_service_that_never_answers_is_given_up():
    events: list[Event] = []
    never = asyncio.Event()

    async def answer(seen: Seen) -> Reply:
        await never.wait()
        return Reply()

    async with serving(answer=answer) as service:
        document = manifest(
            tool_set(tool(f"{service.url}/a")), tool_defaults={"timeout_seconds": 0.05}
        )
        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0], events.append)
        await asyncio.wait_for(service.left.wait(), 60)

    text = (
        "The tool call `shop_look_up` timed out after 0.05 seconds. "
        "Consider retrying with a smaller input or a simpler request."
    )
    assert result.content == text
    assert text in stage_text(events)


async def test_a_cancelled_call_closes_the_request_at_once():
    never = asyncio.Event()

    async def answer(seen: Seen) -> Reply:
        await never.wait()
        return Reply()

    async with serving(answer=answer) as service:
        document = manifest(tool_set(tool(f"{service.url}/a")))
        async with opened(rest, document) as contribution:
            call = asyncio.ensure_future(use(contribution.tools[0]))
            await asyncio.wait_for(service.asked.wait(), 60)
            call.cancel()
            await asyncio.wait([call])

            await asyncio.wait_for(service.left.wait(), 60)

    assert call.cancelled()


@proves("8")
async def test_a_dead_service_and_a_forbidden_one_are_told_apart(settings):
    async with serving(json_reply("{}")) as service:
        pass
    tools = [tool(f"{service.url}/a"), tool("http://10.0.0.1/a")]

    async with opened(rest, manifest(tool_set(*tools))) as contribution:
        results = [(await use(item)).content for item in contribution.tools]

    assert results == [
        f"shop_look_up: the service could not be reached.{OTHERWISE}",
        "shop_look_up: The host '10.0.0.1' is on a private network. If the server may contact it, "
        f"add 10.0.0.1 to the setting PRIVATE_NETWORK_ALLOWLIST.{OTHERWISE}",
    ]


@proves("8")
async def test_an_answer_that_breaks_off_is_an_error():
    async with serving(Reply(200, b"half", {"Content-Length": "100"})) as service:
        document = manifest(tool_set(tool(f"{service.url}/a")))
        async with opened(rest, document) as contribution:
            result = await use(contribution.tools[0])

    assert (
        result.content
        == f"shop_look_up: the service disconnected before the end of its response.{OTHERWISE}"
    )


@proves("8", "10.2", "m1.10")
@pytest.mark.parametrize(
    ("own", "content", "is_kept"),
    [
        (
            {"enabled": True, "include_body_as_content": False},
            "See attached file: look_up.pdf",
            True,
        ),
        (
            {"enabled": True, "content_types": ["application/*"]},
            "The service returned 7 bytes of application/pdf, which is not text.",
            True,
        ),
        (
            {"enabled": True, "content_types": ["image/*"]},
            "The service returned 7 bytes of application/pdf, which is not text.",
            False,
        ),
        (
            {"enabled": False},
            "The service returned 7 bytes of application/pdf, which is not text.",
            False,
        ),
        (None, "See attached file: look_up.pdf", True),
    ],
)
async def test_an_answer_becomes_a_file_where_that_is_wished(own, content, is_kept):
    events: list[Event] = []
    files = Files()
    wished = {"enabled": True, "include_body_as_content": False}
    shown = {"propagate_types_to_choice": ["application/pdf"]}
    async with serving(Reply(200, b"%PDF\0\1\2", {"Content-Type": "application/pdf"})) as service:
        item = tool(f"{service.url}/a", response_as_attachment=own, attachment=shown)
        document = manifest(tool_set(item, response_as_attachment=wished))
        async with opened(rest, document, files=files) as contribution:
            result = await use(contribution.tools[0], events.append)

    kept = tuple(
        Attachment("application/pdf", "look_up.pdf", url=f"files/user-7/{name}")
        for name in files.kept
    )
    assert result == ToolResult(content, "application/pdf", kept, kept)
    assert list(files.kept.values()) == [(b"%PDF\0\1\2", "application/pdf")] * is_kept
    assert [e for e in events if isinstance(e, StageAttachment)] == [
        StageAttachment("call-1", attachment) for attachment in kept
    ]


async def test_an_answer_that_cannot_be_stored_is_read_by_the_model():
    wished = {"enabled": True, "include_body_as_content": False}
    async with serving(json_reply('{"paid": true}')) as service:
        document = manifest(tool_set(tool(f"{service.url}/a", response_as_attachment=wished)))
        async with opened(rest, document, files=ReadOnlyFiles()) as contribution:
            result = await use(contribution.tools[0])

    assert result == ToolResult(
        '{"paid": true}\n\nThe response was not stored as a file: The service can’t store files '
        "right now.",
        "application/json",
    )


@proves("8")
async def test_two_answers_become_two_files():
    files = Files()
    async with serving(json_reply(json.dumps({"a": 1}))) as service:
        document = manifest(
            tool_set(tool(f"{service.url}/a"), response_as_attachment={"enabled": True})
        )
        async with opened(rest, document, files=files) as contribution:
            await asyncio.gather(*(use(contribution.tools[0]) for _ in range(2)))

    assert len(files.kept) == 2
