"""Tools of a real server, over each protocol."""

import json
from pathlib import Path

import pytest

from apps.accounts.caller import Caller, ClientInfo
from apps.agent.events import Event
from apps.capabilities.mcp.capability import prepare
from tests.capabilities.manifests import Files, ReadOnlyFiles, manifest, stage_text, use
from tests.capabilities.mcp.desk import named, opened_desk
from tests.capabilities.mcp.servers import (
    WELL_BEHAVED,
    nothing_left_over,
    over_http,
    over_stdio,
    register,
)
from tests.capabilities.mcp.well_behaved import PIXEL
from tests.contract import proves

TIME = Path(__file__).parents[3] / ".venv-peers/bin/mcp-server-time"


def test_a_manifest_without_servers_asks_nothing():
    assert prepare(manifest()) is None
    assert prepare(manifest(over_http("https://x.example", enabled=False))) is None


@proves("6.1", "9.1", "G-41")
async def test_tools_are_told_with_their_names_and_resolved_schemas(http_url):
    toolset = over_http(http_url, allowed_tools=["add", "move", "nowhere"], name={"en": "My desk"})

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        add, move = (tool.spec for tool in contribution.tools)

    assert contribution.issues == ()
    assert (add.name, add.description) == ("My_desk_add", "add")
    assert add.parameters["required"] == ["a"]
    assert add.parameters["properties"]["b"]["description"] == "The other one"
    assert move.parameters["properties"]["point"]["properties"] == {
        "x": {"title": "X", "type": "integer"},
        "y": {"default": 0, "title": "Y", "type": "integer"},
    }
    assert "$" not in str(move.parameters)


@proves("9.1", "G-18")
@pytest.mark.parametrize("protocol", ["http", "sse"])
async def test_a_server_over_http_is_called(protocol, request):
    url = request.getfixturevalue(f"{protocol}_url")
    kind = "sse" if protocol == "sse" else "streamable_http"
    caller = Caller(
        "user-7",
        client=ClientInfo(headers={"X-Trace": "t-1", "X-Other": "o", "Host": "evil.example"}),
    )
    key = {"type": "bearer", "token": "s3cret"}

    async with (
        nothing_left_over(),
        opened_desk(
            over_http(url, kind, authorization=key, forward_headers=["x-trace", "Host"]),
            caller=caller,
        ) as contribution,
    ):
        added = await use(named(contribution, "desk_add"), a=1, b=2)
        told = await use(named(contribution, "desk_headers"))

    assert added.content == "3"
    assert told.content == "authorization=Bearer [hidden] x-trace=t-1"


@proves("9.1")
@pytest.mark.django_db
async def test_a_registered_program_is_called():
    await register(WELL_BEHAVED, "stdio")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        result = await use(named(contribution, "desk_add"), a=1)

    assert contribution.issues == ()
    assert result.content == "2"


@proves("G-40")
@pytest.mark.django_db
@pytest.mark.skipif(not TIME.exists(), reason="mcp-server-time is not installed")
async def test_a_server_that_others_wrote_is_called():
    await register(command=str(TIME), arguments=[])

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        result = await use(named(contribution, "desk_get_current_time"), timezone="Europe/Riga")

    assert '"timezone": "Europe/Riga"' in result.content


@proves("9.1")
@pytest.mark.django_db
async def test_a_program_that_is_not_registered_is_an_issue():
    await register(WELL_BEHAVED, "stdio", is_enabled=False)

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        issues = [issue.message for issue in contribution.issues]

    assert issues == [
        (
            "Toolset desk: The MCP server 'local' is not registered or not enabled. Ask an "
            "administrator to register it."
        )
    ]


@proves("G-46")
@pytest.mark.django_db
async def test_an_optional_program_that_is_not_registered_is_left_out_without_a_word():
    toolset = {**over_stdio(), "is_optional": True}

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        assert (contribution.issues, contribution.tools) == ((), ())


async def test_arguments_are_checked_before_the_server_is_asked(http_url):
    toolset = over_http(http_url)

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        with pytest.raises(Exception, match="Parameter a is invalid: expected integer"):
            await use(named(contribution, "desk_add"), a="many")


@proves("9.4", "G-42")
async def test_every_kind_of_content_is_kept(http_url):
    files = Files()
    events: list[Event] = []
    toolset = over_http(http_url, attachment={"supported_types": ["image/*", "text/csv"]})

    async with nothing_left_over(), opened_desk(toolset, files=files) as contribution:
        result = await use(named(contribution, "desk_show"), events.append)

    assert result.content == (
        "first\n\na,b\n\nResource c (bits://c, text/plain): see\n\nlast\n\n"
        "An attachment could not be read: its data is not base64."
    )
    assert [(a.type, a.title) for a in result.attachments] == [
        ("image/png", "show.png"),
        ("text/csv", "show.csv"),
    ]
    assert sorted(kind for _, kind in files.kept.values()) == ["image/png", "text/csv"]
    assert [a.type for a in result.propagated] == ["image/png"]
    assert "last" in stage_text(events)


async def test_a_read_only_folder_of_files_costs_only_the_attachments(http_url):
    toolset = over_http(http_url, attachment={"supported_types": ["image/*"]})

    async with nothing_left_over(), opened_desk(toolset, files=ReadOnlyFiles()) as contribution:
        result = await use(named(contribution, "desk_show"))

    assert (result.failure, result.attachments) == (None, ())
    assert result.content == (
        "first\n\na,b\n\nResource c (bits://c, text/plain): see\n\nlast\n\n"
        "An attachment of image/png was not stored: The service can’t store files right now.\n\n"
        "An attachment could not be read: its data is not base64."
    )


@proves("9.4", "G-42")
async def test_structured_content_stands_in_for_missing_text(http_url):
    async with nothing_left_over(), opened_desk(over_http(http_url)) as contribution:
        result = await use(named(contribution, "desk_structured"))

    assert result.content == '{"n":1}'


@proves("9.4")
async def test_structured_content_that_repeats_a_picture_is_not_told_as_text(http_url):
    files, events = Files(), list[Event]()

    async with nothing_left_over(), opened_desk(over_http(http_url), files=files) as contribution:
        result = await use(named(contribution, "desk_mirrored"), events.append)

    assert result.content == "See attached files: mirrored.png"
    assert [attachment.type for attachment in result.attachments] == ["image/png"]
    assert [content for content, _ in files.kept.values()] == [PIXEL * 100]
    assert "iVBORw0" not in stage_text(events)


@proves("9.4")
async def test_a_picture_that_is_in_structured_content_alone_is_named(http_url):
    async with nothing_left_over(), opened_desk(over_http(http_url)) as contribution:
        result = await use(named(contribution, "desk_embedded"))

    size = f"{len(PIXEL) * 100:,}"
    assert json.loads(result.content) == {
        "name": "pixel",
        "mimeType": "image/png",
        "data": f"(image/png, {size} bytes, not shown)",
        "icon": f"(image/png, {size} bytes, not shown)",
    }


@proves("9.4", "G-42")
async def test_a_failing_tool_is_told_to_the_model_through_the_fallback(http_url):
    trigger = {"type": "contains", "value": "LUCK"}
    strategy = {"type": "continue", "trigger_on": trigger, "instructions": "Try tomorrow."}
    toolset = over_http(http_url, fallback_configuration={"strategies": [strategy]})

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        result = await use(named(contribution, "desk_fail"))

    assert "no luck today" in result.content
    assert result.content.endswith("\n\nTry tomorrow.")


@proves("9.2")
async def test_only_a_tool_that_says_it_may_be_repeated_is_called_again(http_url):
    attempts = {"attempts": 2, "initial_delay": 0.01}
    strategies = [{"type": "continue", "retry": attempts}]
    toolset = over_http(http_url, fallback_configuration={"strategies": strategies})

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        looked = await use(named(contribution, "desk_look"))
        acted = await use(named(contribution, "desk_act"))
        await use(named(contribution, "desk_act"))  # leaves the server as it was

    assert looked.content == "walked"
    assert "stumbled" in acted.content


async def test_progress_is_written_into_the_stage(http_url):
    events: list[Event] = []

    async with nothing_left_over(), opened_desk(over_http(http_url)) as contribution:
        await use(named(contribution, "desk_steps"), events.append)

    assert "half way (1 of 2)\n\n2 of 2\n\n" in stage_text(events)


async def test_a_server_is_not_told_that_anybody_can_be_asked_and_hears_no_if_it_asks(http_url):
    async with nothing_left_over(), opened_desk(over_http(http_url)) as contribution:
        told = await use(named(contribution, "desk_capabilities"))
        result = await use(named(contribution, "desk_ask"))

    assert told.content == "{}"
    assert "cannot send 'elicitation/create'" in result.content.lower()


@proves("6.3")
async def test_hidden_tools_are_not_told_to_the_model(http_url):
    toolset = over_http(http_url, allowed_tools=["add", "move"], hidden_from_model=["add"])

    async with nothing_left_over(), opened_desk(toolset) as contribution:
        assert [tool.spec.name for tool in contribution.tools] == ["desk_move"]


async def test_the_servers_own_instructions_are_told_only_when_asked_for(http_url):
    plain, asked = over_http(http_url), over_http(http_url, name="b", server_instructions=True)

    async with nothing_left_over(), opened_desk(plain, asked) as contribution:
        instructions = contribution.instructions

    assert instructions == (
        "Instructions from the server of the toolset b:\n\nAsk for bits politely.",
    )
