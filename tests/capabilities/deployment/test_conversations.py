"""A tool that continues an earlier conversation."""

import asyncio
import base64
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.messages import Attachment, ModelMessage, ToolCall, to_dicts
from apps.errors import InvalidParameter
from apps.workspace.port import DeploymentInfo
from tests.capabilities.deployment.scripts import ECHO, echo, one_tool, simple, use, written
from tests.contract import proves
from tests.fakes import encoded, saying
from tests.servers.internet import answer, internet, ok
from tests.tables import each_row

RESUMABLE: dict[str, Any] = {"conversation_mode": {"resumable": True}}
NOTE = Attachment("text/plain", "Note", data="n")


def called(call_id: str, arguments: object, answer: str, tool: str = "repeat", **brought: Any):
    """Return a call of the tool and its result."""
    text = arguments if isinstance(arguments, str) else encoded(arguments)
    return (
        ModelMessage("assistant", tool_calls=(ToolCall(call_id, tool, text),)),
        ModelMessage("tool", answer, tool_call_id=call_id, **brought),
    )


BEGUN = called(
    "a", {"query": "One"}, "1\n\n[session_id: a]", attachments=(NOTE,), state={"count": 1}
)
CONTINUED = called("b", {"query": "Two", "session_id": "a"}, "2")
OTHER = called("c", {"query": "Three"}, "3\n\n[session_id: c]")
BEGUN_AS_ASKED = [
    {"role": "user", "content": "One"},
    {
        "role": "assistant",
        "content": "1",
        "custom_content": {
            "attachments": [{"type": "text/plain", "title": "Note", "data": "n"}],
            "state": {"count": 1},
        },
    },
]
CONTINUED_AS_ASKED = [{"role": "user", "content": "Two"}, {"role": "assistant", "content": "2"}]


async def asked(tool: dict[str, Any], *messages: ModelMessage, **arguments: Any) -> tuple[Any, str]:
    """Return the deployment's request, and the tool's answer."""
    workspace, model = echo()
    async with one_tool(workspace, tool) as item:
        result = await use(item, messages=messages, call_id="new", **arguments)
    return to_dicts(model.asked[0].messages), result.content


@proves("7.1")
@pytest.mark.parametrize("tool", [written(**RESUMABLE), simple(**RESUMABLE)])
async def test_a_new_conversation_is_named_after_its_first_call(tool):
    messages, answer = await asked(tool, *BEGUN, query="Hi", session_id=" ")

    assert messages == [{"role": "user", "content": "Hi"}]
    assert answer == "Well.\n\n[session_id: new]"


@proves("7.1")
async def test_a_conversation_goes_on_with_everything_that_was_said_in_it():
    current = ModelMessage(
        "assistant",
        tool_calls=(ToolCall("new", "repeat", encoded({"query": "Go on", "session_id": "a"})),),
    )

    messages, answer = await asked(
        written(**RESUMABLE),
        ModelMessage("user", "Count"),
        *BEGUN,
        *OTHER,
        *CONTINUED,
        *called("d", {"query": "Else", "session_id": "a"}, "4", tool="another"),
        current,
        query="Go on",
        session_id="a",
    )

    assert messages == [*BEGUN_AS_ASKED, *CONTINUED_AS_ASKED, {"role": "user", "content": "Go on"}]
    assert answer == "Well."


@proves("7.1")
async def test_an_answer_that_is_cut_still_names_its_conversation():
    workspace, _ = echo(saying("x" * 400_001))

    async with one_tool(workspace, written(**RESUMABLE)) as item:
        result = await use(item, call_id="new", query="Hi")

    assert result.content.endswith("more characters)\n\n[session_id: new]")
    assert len(result.content) <= 400_000


@proves("7.1")
async def test_calls_at_the_same_time_go_on_from_what_was_answered_before_them():
    both = ModelMessage(
        "assistant",
        tool_calls=(
            ToolCall("new", "repeat", encoded({"query": "Left", "session_id": "a"})),
            ToolCall("other", "repeat", encoded({"query": "Right", "session_id": "a"})),
        ),
    )
    workspace, model = echo(saying("L"), saying("R"))

    async with one_tool(workspace, written(**RESUMABLE)) as item:
        left, right = await asyncio.gather(
            *(
                use(item, messages=(*BEGUN, both), call_id=id, query=query, session_id="a")
                for id, query in (("new", "Left"), ("other", "Right"))
            )
        )

    assert [to_dicts(request.messages) for request in model.asked] == [
        [*BEGUN_AS_ASKED, {"role": "user", "content": query}] for query in ("Left", "Right")
    ]
    assert (left.content, right.content) == ("L", "R")


@proves("7.1")
async def test_new_conversations_at_the_same_time_have_names_of_their_own():
    workspace, _ = echo(saying("L"), saying("R"))

    async with one_tool(workspace, written(**RESUMABLE)) as item:
        left, right = await asyncio.gather(
            *(use(item, call_id=id, query="Hi") for id in ("one", "two"))
        )

    assert (left.content, right.content) == ("L\n\n[session_id: one]", "R\n\n[session_id: two]")


@proves("7.1")
async def test_the_name_of_the_conversation_is_not_sent():
    workspace, model = echo()

    async with one_tool(workspace, written(**RESUMABLE)) as tool:
        await use(tool, query="Hi", session_id="a")

    assert model.asked[0].parameters == {}


@proves("7.1")
@pytest.mark.parametrize("arguments", ["{not json", "[]", "{}"])
async def test_a_first_call_that_cannot_be_read_counts_without_its_question(arguments):
    messages, _ = await asked(
        written(**RESUMABLE), *called("a", arguments, "1"), query="Hi", session_id="a"
    )

    assert messages == [{"role": "assistant", "content": "1"}, {"role": "user", "content": "Hi"}]


async def test_a_conversation_that_nobody_began_begins_under_that_name():
    messages, _ = await asked(written(**RESUMABLE), *OTHER, query="Hi", session_id="invented")

    assert messages == [{"role": "user", "content": "Hi"}]


@proves("7.1")
async def test_without_the_mode_every_call_stands_alone():
    messages, answer = await asked(written(), *BEGUN, *CONTINUED, query="Hi", session_id="a")

    assert messages == [{"role": "user", "content": "Hi"}]
    assert answer == "Well."


@proves("7.1")
@pytest.mark.parametrize("mode", [{}, RESUMABLE])
async def test_the_older_mode_makes_one_conversation_of_all_calls(mode):
    tool = written(content_propagation={"propagate_history": True}, **mode)

    messages, _ = await asked(tool, *called("a", {"query": "One"}, "1"), *CONTINUED, query="Hi")

    assert messages == [
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "1"},
        *CONTINUED_AS_ASKED,
        {"role": "user", "content": "Hi"},
    ]


@proves("7.1")
@pytest.mark.django_db
async def test_a_file_that_is_gone_does_not_end_the_conversation(caplog):
    first = called("a", {"query": "Read", "attachment_urls": ["files/user-7/gone.txt"]}, "1")

    messages, _ = await asked(written(**RESUMABLE), *first, query="Hi", session_id="a")

    assert messages == [
        {"role": "user", "content": "Read"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "Hi"},
    ]
    assert "Repeated an earlier call without its files" in caplog.text


pytestmark = pytest.mark.django_db

PICTURE = b"\x89PNG picture"


async def sent(info: DeploymentInfo, *urls: Any, **rest: Any) -> tuple[Attachment, ...]:
    """Return the files that the deployment gets for these addresses, in addition to two of the
    caller's own."""
    workspace, model = echo(info=info)
    await workspace.files.keep("my notes.txt", "Größe".encode(), "text/plain")
    await workspace.files.keep("pictures/a.png", PICTURE, "image/png")
    async with one_tool(workspace, written(), **rest) as tool:
        await use(tool, query="Look", attachment_urls=list(urls))
    return model.asked[0].messages[-1].attachments


async def refusal(info: DeploymentInfo, *urls: Any, **rest: Any) -> str:
    with pytest.raises(InvalidParameter) as refused:
        await sent(info, *urls, **rest)
    return str(refused.value).removeprefix("Parameter attachment_urls is invalid: ")


@proves("7.5")
@pytest.mark.parametrize("prefix", ["", "file:url::", "/file:TEXT::", "file:base64::"])
async def test_files_of_the_caller_go_by_their_path(prefix):
    assert await sent(
        ECHO, f"{prefix}files/user-7/pictures/a.png", "files/user-7/my%20notes.txt"
    ) == (
        Attachment("image/png", "a.png", url="files/user-7/pictures/a.png"),
        Attachment("text/plain", "my notes.txt", url="files/user-7/my%20notes.txt"),
    )


@proves("7.5")
async def test_a_deployment_that_cannot_fetch_files_is_sent_what_is_in_them():
    outside = replace(ECHO, files="data")
    data = base64.b64encode(PICTURE).decode()

    assert await sent(
        outside,
        "files/user-7/pictures/a.png",
        "files/user-7/my%20notes.txt",
        f"data:image/png;base64,{data}",
    ) == (
        Attachment("image/png", "a.png", data=data),
        Attachment("text/plain", "my notes.txt", data="Größe"),
        Attachment("image/png", "attachment-61578ad7d8afde50.png", data=data),
    )


@proves("7.5")
async def test_data_in_an_address_becomes_a_file_of_the_caller():
    (attachment,) = await sent(ECHO, "data:text/csv,a%2Cb")

    workspace, _ = echo()
    kept = await workspace.files.read(attachment.url or "")
    assert (attachment.type, kept.content, kept.info.content_type) == (
        "text/csv",
        b"a,b",
        "text/csv",
    )


@proves("7.5")
async def test_addresses_go_to_those_that_fetch_them_themselves():
    curious = replace(ECHO, features={"url_attachments": True})
    url = "https://example.com/reports/q%201.pdf?key=1"

    assert await sent(curious, url) == (Attachment("*/*", "q 1.pdf", url=url, reference_url=url),)


async def test_files_of_the_internet_become_files_of_the_caller_where_the_deployment_fetches_none(
    settings,
):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    pages = {"/q%201.pdf": ok(b"%PDF-", content_type="application/pdf")}
    async with internet(pages) as net:
        url = "http://files.example/q%201.pdf?key=s3cret"
        (kept, again) = await sent(ECHO, url, f"file:base64::{url}")
        (inside,) = await sent(replace(ECHO, files="data"), url)

    assert kept == again
    assert (kept.type, kept.title, kept.reference_url) == ("application/pdf", "q 1.pdf", None)
    assert kept.url == "files/user-7/loaded/38523c087796e5d5/q%201.pdf"
    assert inside == Attachment("application/pdf", "q 1.pdf", data="JVBERi0=")
    assert len(net.asked) == 2  # one for each call


async def test_a_file_of_dial_goes_by_its_path_also_when_its_address_is_in_full(settings):
    settings.DIAL_URL = "http://core.example"
    curious = replace(ECHO, features={"url_attachments": True})

    (attachment,) = await sent(curious, "http://core.example/v1/files/user-7/pictures/a.png")

    assert attachment == Attachment("image/png", "a.png", url="files/user-7/pictures/a.png")


async def test_files_keep_their_order_and_one_that_fails_does_so_after_the_others(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    is_failing = asyncio.Event()

    async def fails(writer: asyncio.StreamWriter) -> None:
        is_failing.set()
        await answer(500)(writer)

    async def waits(writer: asyncio.StreamWriter) -> None:
        await is_failing.wait()
        await ok(b"late")(writer)

    urls = [f"http://files.example/{name}" for name in ("late.txt", "fails.txt")]
    async with internet({"/late.txt": waits, "/fails.txt": fails}):
        told = await refusal(ECHO, *urls, "data:,x")

    workspace, _ = echo()
    kept = await workspace.files.list("files/user-7/", is_deep=True)
    assert told == (
        "External URL http://files.example/fails.txt could not be fetched. The server returned "
        "status 500."
    )
    assert [info.path.rpartition("/")[2] for info in kept] == [
        "attachment-2d711642b726b044.txt",
        "late.txt",
        "my%20notes.txt",
        "a.png",
    ]


async def test_what_a_deployment_does_not_take_is_not_kept(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    pictures = replace(ECHO, input_attachment_types=("image/*",))
    async with internet({"/a.csv": ok(b"1", content_type="text/csv")}):
        told = await refusal(pictures, "http://files.example/a.csv")

    workspace, _ = echo()
    assert told.endswith("'a.csv' has the type text/csv.")
    assert len(await workspace.files.list("files/user-7/", is_deep=True)) == 2


async def test_an_earlier_question_is_repeated_with_the_files_that_it_referred_to():
    workspace, model = echo(saying("One."), saying("Two."))
    await workspace.files.keep("a.txt", b"What is it?", "text/plain")
    reference = "file:text::files/user-7/a.txt"
    resumable = written(conversation_mode={"resumable": True})
    async with one_tool(workspace, resumable) as tool:
        first = await use(tool, query=reference)
        call = ToolCall("call-1", "repeat", f'{{"query": "{reference}"}}')
        said = [
            ModelMessage("assistant", tool_calls=(call,)),
            ModelMessage("tool", first.content, tool_call_id="call-1"),
        ]
        await use(tool, messages=said, call_id="call-2", query="And?", session_id="call-1")

    assert [message.text for message in model.asked[1].messages] == ["What is it?", "One.", "And?"]


@proves("7.5")
@each_row(
    ("url", "problem"),
    [
        ("https://me:pw@example.com/a?token=x", "disabled by operator policy"),
        ("ftp://example.com/a", "'ftp://example.com/a' is not a file that can be sent."),
        ("file:///etc/passwd", "Missing required file prefix (base64::, url::, text::)"),
        ("//example.com/a", "'//example.com/a' is not a file that can be sent."),
        ("javascript:alert(1)", "is not a file that can be sent."),
        (
            "files/user-8/secret.txt",
            "The file 'files/user-8/secret.txt' does not exist, or you have no access.",
        ),
        ("files/user-7/../user-8/secret.txt", "is not a file that can be sent."),
        ("/etc/passwd", "The file '/etc/passwd' does not exist, or you have no access."),
        ("data:image/png;base64,!!!!", "The data of a data: URI is not valid base64."),
        ("data:nonsense", "A data: URI has no comma before its data."),
        ("data:a b,c", "A data: URI does not begin with a media type."),
    ],
)
async def test_what_cannot_be_sent_is_refused_with_what_can(url, problem):
    told = await refusal(ECHO, "files/user-7/my%20notes.txt", url)

    assert problem in told
    assert "token" not in told
    assert "pw" not in told


async def test_files_of_other_types_are_refused_with_those_that_are_taken():
    pictures = replace(ECHO, input_attachment_types=("image/*",))

    assert await refusal(pictures, "files/user-7/my%20notes.txt") == (
        "the deployment 'echo' accepts files of the types image/*; "
        "'my notes.txt' has the type text/plain."
    )


async def test_a_deployment_without_files_is_sent_none():
    assert await refusal(replace(ECHO, files="none"), "files/user-7/my%20notes.txt") == (
        "the deployment 'echo' does not accept files. Put the necessary information into query."
    )


@proves("7.5")
@pytest.mark.parametrize("url", ["files/user-7/my%20notes.txt", "data:text/plain,1234567"])
async def test_files_that_are_too_large_are_refused(url):
    features = {"file_loading": {"size_limit": 6}}

    assert (await refusal(ECHO, url, features=features)).startswith(
        "The file is 7 bytes; the limit is 6"
    )


async def test_large_data_is_refused_before_it_is_decoded():
    features = {"file_loading": {"size_limit": 6}}

    told = await refusal(ECHO, f"data:image/png;base64,{'A' * 4000}", features=features)

    assert told == "The file is 2,998 bytes; the limit is 6."


async def test_so_many_files_cannot_be_meant():
    assert await refusal(ECHO, *["files/user-7/my%20notes.txt"] * 51) == (
        "there are 51 files; the limit is 50."
    )


async def test_blank_addresses_are_none():
    assert await sent(ECHO, "", " ") == ()
