from typing import Any

import pytest

from apps.agent.events import Event, ModelUsage, RunFinished, Usage
from apps.agent.messages import ModelMessage
from apps.agent.tools import Tool
from apps.capabilities.discovery.capability import discovery
from apps.capabilities.registry import Contribution
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ModelFailed
from apps.manifest.validation.validation import read_manifest
from tests.capabilities import runs
from tests.capabilities.runs import events_of, led_by, state_of
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, capability, saying, tool
from tests.manifest.documents import internal_tools, manifest, rest_tools

SEARCH = "internal_tool_search"
SHOP = "tool_sets[0]"


def shop_tool(name: str, toolset: str = SHOP) -> Tool:
    made = tool(f"shop_{name}", lambda arguments: f"{name}: done")
    return Tool(made.spec, made.call, toolset)


ORDER, CUSTOMER = shop_tool("order"), shop_tool("customer")
REFUSED = (
    "Error: The tool 'shop_order' is not available yet. Call internal_tool_search with a query "
    "that describes what you need; when it lists the tool, call the tool again."
)


def application(
    *tools: Tool, tool_sets: list[Any] | None = None, preview: bool = True, **wanted: Any
) -> ResolvedApplication:
    """Return an application of the model `gpt` with these tools and these discovery settings."""
    given = {"enabled": True, "min_tools_for_deferral": 2, **wanted}
    found = {key: value for key, value in given.items() if value is not None}
    if tool_sets is None:
        tool_sets = [rest_tools(name="Shop", description="Orders.")]
    lead = led_by(tool_discovery=found)
    document = read_manifest(
        manifest(orchestrator=lead, tool_sets=tool_sets, features=None), preview=preview
    )
    return runs.application(document, discovery, capability(Contribution(tools=tools)))


async def run_with(
    app: ResolvedApplication,
    models: dict[str, ScriptedModel],
    *messages: ModelMessage,
    **wishes: Any,
) -> list[Event]:
    asked = messages or (ModelMessage("user", "Where is my order?"),)
    return await events_of(app, models, *asked, **wishes)


def listed(model: ScriptedModel) -> list[list[str]]:
    return [[spec.name for spec in request.tools] for request in model.asked]


def searching(query: str = "orders") -> list[Any]:
    return calling(("s", SEARCH, {"query": query}))


async def test_what_a_client_wishes_of_the_model_is_no_wish_of_the_one_that_searches():
    model = ScriptedModel(searching(), saying("On its way."))
    router = ScriptedModel(saying('["shop_order"]'))
    app = application(ORDER, CUSTOMER, service_model="mini")

    await run_with(app, {"gpt": model, "mini": router}, parameters={"max_tokens": 5})

    assert [dict(asked.parameters) for asked in model.asked] == [{"max_tokens": 5}] * 2
    assert dict(router.asked[0].parameters) == {}


@proves("14.9")
async def test_a_large_toolset_is_withheld_until_the_model_searches_for_its_tools():
    model = ScriptedModel(searching(), calling(("1", "shop_order", {})), saying("On its way."))
    router = ScriptedModel(saying('["shop_order"]', prompt=7, completion=2))

    events = await run_with(
        application(ORDER, CUSTOMER, service_model="mini"), {"gpt": model, "mini": router}
    )

    assert listed(model) == [[SEARCH], [SEARCH, "shop_order"], [SEARCH, "shop_order"]]
    assert [message.text for message in model.asked[-1].messages[2::2]] == [
        "You can call these tools now:\n- shop_order: shop_order",
        "order: done",
    ]
    assert router.asked[0].tools == ()
    assert router.asked[0].messages[-1] == ModelMessage("user", "orders")
    assert events[-1] == RunFinished("stop", Usage(7, 2, (ModelUsage("mini", 7, 2),)))


@proves("14.9")
async def test_the_search_tells_the_model_which_toolsets_there_are():
    model = ScriptedModel(saying("Hello"))

    await run_with(application(ORDER, CUSTOMER), {"gpt": model})

    assert model.asked[0].tools[0].description == (
        "Finds tools that are not listed and makes them available to you. Search before you say "
        "that something cannot be done. There are more tools in:\n- Shop (2 tools): Orders."
    )


@proves("14.9")
async def test_without_a_service_model_the_orchestrators_own_deployment_is_asked():
    model = ScriptedModel(searching(), saying('["shop_customer"]'), saying("Done"))

    await run_with(application(ORDER, CUSTOMER), {"gpt": model})

    assert listed(model) == [[SEARCH], [], [SEARCH, "shop_customer"]]


@proves("14.9")
@pytest.mark.parametrize(
    "answer",
    [
        [ModelFailed("down", status=500)],
        saying("I would take shop_customer."),
        saying('["rm_rf", "shop_orders"]'),
        saying(""),
        None,
    ],
    ids=["failing", "prose", "invented names", "nothing", "missing deployment"],
)
async def test_where_no_model_can_choose_the_words_of_the_query_do(answer):
    model = ScriptedModel(searching("the order of today"), saying("Done"))
    models = {"gpt": model} | ({"mini": ScriptedModel(answer)} if answer is not None else {})

    await run_with(application(ORDER, CUSTOMER, service_model="mini"), models)

    assert listed(model) == [[SEARCH], [SEARCH, "shop_order"]]


@proves("14.9")
async def test_a_model_that_takes_too_long_is_left_for_the_words_of_the_query(monkeypatch):
    monkeypatch.setattr("apps.capabilities.discovery.chooser.SECONDS", 0.5)
    model = ScriptedModel(searching("the order of today"), saying("Done"))
    slow = ScriptedModel([ScriptedModel.never])

    await run_with(application(ORDER, CUSTOMER, service_model="mini"), {"gpt": model, "mini": slow})

    assert slow.closed.is_set()
    assert listed(model) == [[SEARCH], [SEARCH, "shop_order"]]


async def test_when_nothing_is_found_the_model_is_told_what_there_is():
    model = ScriptedModel(searching(), saying("[]"), saying("I cannot."))

    await run_with(application(ORDER, CUSTOMER), {"gpt": model})

    assert model.asked[-1].messages[-1].text == (
        "No tool was found. Describe in other words what the tool should do, or continue without "
        "one. There are tools in:\n- Shop (2 tools): Orders."
    )


@pytest.mark.parametrize("arguments", ["{}", '{"query": 5}', "{"])
async def test_a_search_without_a_query_is_refused(arguments):
    model = ScriptedModel(calling(("s", SEARCH, arguments)), saying("Done"))

    await run_with(application(ORDER, CUSTOMER), {"gpt": model})

    assert listed(model) == [[SEARCH], [SEARCH]]
    assert model.asked[-1].messages[-1].role == "tool"


async def test_a_withheld_tool_that_is_called_directly_says_how_to_get_it():
    model = ScriptedModel(calling(("1", "shop_order", {}), ("2", "shop_x", {})), saying("Done"))

    await run_with(application(ORDER, CUSTOMER), {"gpt": model})

    withheld, unknown = (message.text for message in model.asked[1].messages[-2:])
    assert withheld == REFUSED
    assert unknown.startswith("Unknown tool 'shop_x'.")
    assert listed(model) == [[SEARCH], [SEARCH]]


async def test_a_tool_called_beside_the_search_that_finds_it_has_to_be_called_again():
    both = calling(("1", "shop_order", {}), ("s", SEARCH, {"query": "order"}))
    model = ScriptedModel(both, saying('["shop_order"]'), saying("Done"))

    await run_with(application(ORDER, CUSTOMER), {"gpt": model})

    assert model.asked[-1].messages[-2].text == REFUSED
    assert listed(model)[-1] == [SEARCH, "shop_order"]


@proves("14.9")
async def test_what_was_found_is_listed_in_the_next_request_as_well():
    model = ScriptedModel(searching(), saying('["shop_order"]'), saying("Done"))
    events = await run_with(application(ORDER, CUSTOMER), {"gpt": model})
    saved = state_of(events)
    assert saved["lazy_loaded_tools"] == ["shop_order"]
    answered = ModelMessage("assistant", "Done", state=saved)

    again = ScriptedModel(saying("Yes."))
    thanks = ModelMessage("user", "Thanks")
    events = await run_with(application(ORDER, CUSTOMER), {"gpt": again}, thanks, answered, thanks)

    assert listed(again) == [[SEARCH, "shop_order"]]
    assert state_of(events)["lazy_loaded_tools"] == ["shop_order"]


@proves("4")
async def test_a_tool_that_the_client_demands_is_listed_at_once():
    model = ScriptedModel(calling(("1", "shop_order", {})), saying("On its way."))
    choice = {"type": "function", "function": {"name": "shop_order"}}

    events = await run_with(application(ORDER, CUSTOMER), {"gpt": model}, tool_choice=choice)

    assert listed(model) == [[SEARCH, "shop_order"], [SEARCH, "shop_order"]]
    assert [request.parameters.get("tool_choice") for request in model.asked] == [choice, None]
    assert state_of(events)["lazy_loaded_tools"] == ["shop_order"]


@proves("14.9")
@pytest.mark.parametrize("lie", ["shop_order", 5, {"shop_order": 1}, [["shop_order"], 7, "x"]])
async def test_a_state_that_lies_lists_nothing(lie):
    answered = ModelMessage("assistant", "Done", state={"lazy_loaded_tools": lie})
    model = ScriptedModel(saying("Yes."))
    asked = ModelMessage("user", "Thanks")

    await run_with(application(ORDER, CUSTOMER), {"gpt": model}, asked, answered, asked)

    assert listed(model) == [[SEARCH]]


@proves("14.9")
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"min_tools_for_deferral": 3}, "too few tools"),
        ({"tool_sets": [rest_tools(name="Shop", deferred=False)]}, "refused"),
        ({"enabled": False}, "off"),
        ({"preview": False}, "no preview"),
        ({"tool_sets": [{"type": "dial-deployment", "name": "Shop", "tools": []}]}, "agents"),
    ],
)
async def test_some_toolsets_are_always_listed(options, why):
    model = ScriptedModel(saying("Hello"))

    await run_with(application(ORDER, CUSTOMER, **options), {"gpt": model})

    assert listed(model) == [["shop_order", "shop_customer"]], why


@proves("14.9")
async def test_toolsets_are_counted_one_by_one_and_tools_of_no_toolset_stay():
    notes = [shop_tool("note", "tool_sets[1]"), shop_tool("pen", "tool_sets[1]")]
    alone, loose = shop_tool("alone", "tool_sets[2]"), shop_tool("clock", "")
    sets = [
        rest_tools(name="Shop"),
        {
            "type": "mcp",
            "name": {"de": "Notizen", "en": "Notes"},
            "deferred": None,
            "mcp_server_info": {"url": "https://n.example.org", "protocol": "streamable_http"},
        },
        rest_tools(name="Small"),
    ]
    model = ScriptedModel(saying("Hello"))

    await run_with(
        application(ORDER, CUSTOMER, *notes, alone, loose, tool_sets=sets), {"gpt": model}
    )

    assert listed(model) == [["shop_alone", "shop_clock", SEARCH]]
    assert model.asked[0].tools[-1].description.endswith("in:\n- Shop (2 tools)\n- Notes (2 tools)")


async def test_internal_tools_are_withheld_by_the_toolset_that_names_them():
    sets = [internal_tools("shop_order", "shop_customer", name="inside")]
    loose = [Tool(item.spec, item.call) for item in (ORDER, CUSTOMER)]
    model = ScriptedModel(saying("Hello"))

    await run_with(application(*loose, tool_sets=sets), {"gpt": model})

    assert listed(model) == [[SEARCH]]


@proves("14.9")
async def test_the_installation_says_how_many_tools_are_many(settings):
    settings.MIN_TOOLS_FOR_DEFERRAL = 2
    model = ScriptedModel(saying("Hello"))

    await run_with(application(ORDER, CUSTOMER, min_tools_for_deferral=None), {"gpt": model})

    assert listed(model) == [[SEARCH]]
