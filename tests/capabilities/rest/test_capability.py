"""Tools and issues that result from a manifest."""

import asyncio

import pytest

from apps.agent.events import Event, StageOpened
from apps.agent.tools import ToolSpec
from apps.capabilities.rest.capability import prepare, rest
from tests.capabilities.manifests import (
    CALLER,
    manifest,
    opened,
    opening_for,
    parameter,
    tool,
    tool_set,
    use,
)
from tests.capabilities.service import json_reply, serving
from tests.contract import proves
from tests.tables import each_row

pytestmark = pytest.mark.usefixtures("loopback")

NOT_FOR_ADDRESSES: tuple[object, ...] = (None, "", "..", ["a"], {})
URL = "https://api.example.org/a"


def test_a_manifest_without_rest_tools_asks_nothing():
    assert prepare(manifest()) is None
    assert prepare(manifest(tool_set(tool(URL), enabled=False))) is None


@proves("6.1")
async def test_the_model_reads_name_description_and_visible_parameters():
    address = {
        "type": "object",
        "description": "Where to",
        "properties": {"zip": {"type": "string"}, "kind": {"type": None, "const": "home"}},
        "required": ["zip", "kind"],
    }
    properties = {
        "unit": parameter("query", "u", description="Unit", enum=["m", "ft"], default="m"),
        "to": {**address, "parameter_info": {"type": "body", "key": "to"}},
        "key": parameter("header", "X-Key", None, const="s3cret"),
    }
    document = manifest(
        tool_set(
            tool(URL, "post", properties, ("to", "key", "nothing")), name={"de": "x", "en": "a b"}
        )
    )

    async with opened(rest, document) as contribution:
        (item,) = contribution.tools

    assert item.spec == ToolSpec(
        "a_b_look_up",
        "Looks it up.",
        {
            "type": "object",
            "properties": {
                "unit": {
                    "type": "string",
                    "enum": ["m", "ft"],
                    "description": "Unit",
                    "default": "m",
                },
                "to": {
                    "type": "object",
                    "properties": {"zip": {"type": "string"}},
                    "required": ["zip"],
                    "description": "Where to",
                },
            },
            "required": ["to"],
        },
    )


async def test_what_the_model_reads_is_prepared_once_for_all_runs():
    opener = prepare(manifest(tool_set(tool(URL))))
    assert opener is not None

    specs = []
    for _ in range(2):
        async with opener(opening_for()) as contribution:
            specs.append(contribution.tools[0].spec)

    assert specs[0] is specs[1]


@proves("8")
@each_row(
    ("toolset", "message"),
    [
        (
            tool_set(tool("https://{x}.example.org/")),
            (
                "tool_sets[0].tools[0].rest_api_method_info.method_url: the host cannot be used; "
                "placeholders are allowed only in the path."
            ),
        ),
        (
            tool_set(tool(f"{URL}/{{id}}")),
            (
                "tool_sets[0].tools[0].open_ai_tool.function.parameters: the URL contains "
                "'id', but there is no parameter of type url with this key."
            ),
        ),
        (
            tool_set(tool(URL, "get", {"h": parameter("header", "Host")})),
            (
                "tool_sets[0].tools[0].open_ai_tool.function.parameters.properties.h: the header "
                "'Host' is set by the HTTP client."
            ),
        ),
        (
            tool_set(tool(URL, "get", {"h": parameter("header", "a b")})),
            (
                "tool_sets[0].tools[0].open_ai_tool.function.parameters.properties.h: 'a b' is not a valid HTTP header name."
            ),
        ),
        (
            tool_set(tool(URL, "get", {"h": parameter("header", "X", None, const="s\n")})),
            "tool_sets[0].tools[0].open_ai_tool.function.parameters.properties.h: a header cannot "
            "contain line breaks or other control characters.",
        ),
        *(
            (
                tool_set(
                    tool(f"{URL}/{{id}}", "get", {"id": parameter("url", "id", None, const=const)})
                ),
                (
                    "tool_sets[0].tools[0].open_ai_tool.function.parameters.properties.id: a "
                    "constant in a URL must be a string or a number."
                ),
            )
            for const in NOT_FOR_ADDRESSES
        ),
        (
            tool_set(tool(URL), authorization={"type": "bearer", "token": "s3cret\n"}),
            "tool_sets[0].authorization: a header cannot contain line breaks or other control "
            "characters.",
        ),
        (
            tool_set(
                tool(URL),
                authorization={
                    "type": "client_id_secret",
                    "client_id": "a",
                    "client_secret": "s3cret",
                    "token_url": "s3cret",
                },
            ),
            (
                "tool_sets[0].authorization.token_url: use a URL that begins with http://, "
                "https:// or /."
            ),
        ),
    ],
)
async def test_what_cannot_be_used_is_an_issue_and_the_rest_goes_on(toolset, message):
    document = manifest(toolset, tool_set(tool(URL), name="good"))

    async with opened(rest, document) as contribution:
        names = [item.spec.name for item in contribution.tools]

    assert names == ["good_look_up"]
    assert [issue.message for issue in contribution.issues] == [message]


@proves("8")
async def test_a_tool_that_does_not_say_what_becomes_of_answers_is_warned_of(caplog):
    off = {"enabled": False}

    prepare(manifest(tool_set(tool(URL), tool(URL, response_as_attachment=off))))
    prepare(manifest(tool_set(tool(URL), response_as_attachment=off)))

    assert [record.getMessage() for record in caplog.records] == [
        "Tool shop_look_up: response_as_attachment is not set, so responses are not stored as "
        'files; set {"enabled": false} to confirm this'
    ]


@proves("8", "10.1")
async def test_the_stage_tells_the_toolset_and_the_tool_or_the_function_alone():
    events: list[Event] = []
    async with serving(json_reply("{}")) as service:
        sets = [tool_set(tool(f"{service.url}/a?key=s3cret"), name=name) for name in ("", "Shop")]

        async with opened(rest, manifest(*sets)) as contribution:
            for item in contribution.tools:
                await use(item, events.append)

    titles = [event.title for event in events if isinstance(event, StageOpened)]
    assert titles == ["Calling look_up", "Shop · look_up"]


async def test_the_stage_shows_the_title_of_the_toolset_instead_of_its_name():
    events: list[Event] = []
    async with serving(json_reply("{}")) as service:
        titled = tool_set(tool(f"{service.url}/a"), name="shop") | {"title": "Shop desk"}

        async with opened(rest, manifest(titled)) as contribution:
            (item,) = contribution.tools
            await use(item, events.append)

    assert item.spec.name == "shop_look_up"
    titles = [event.title for event in events if isinstance(event, StageOpened)]
    assert titles == ["Shop desk · look_up"]


@proves("10.1")
async def test_parallel_calls_of_one_toolset_are_told_apart():
    events: list[Event] = []
    async with serving(json_reply("{}")) as service:
        first, second = tool(f"{service.url}/a"), tool(f"{service.url}/b")
        second["open_ai_tool"]["function"]["name"] = "book"
        name = {"en": "Team", "de": "Mannschaft"}
        german = CALLER.at(locale="de")

        async with opened(rest, manifest(tool_set(first, second, name=name)), german) as found:
            await asyncio.gather(*(use(item, events.append) for item in found.tools))

    titles = [event.title for event in events if isinstance(event, StageOpened)]
    assert sorted(titles) == ["Mannschaft · book", "Mannschaft · look_up"]


async def test_disabled_tools_are_left_out():
    document = manifest(tool_set(tool(URL, enabled=False), tool(URL)))

    async with opened(rest, document) as contribution:
        assert len(contribution.tools) == 1
