"""Requests of a model if Core is on both sides, and the records of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tests.contract import proves
from tests.dial.installation import (
    Installation,
    ask_helper,
    asking,
    called,
    helpers,
    last,
    said,
    stages,
)
from tests.dial_core import Core
from tests.dial_core.core import Hop
from tests.dial_core.models import Answer

SEARCH = {
    "type": "static_function",
    "static_function": {"name": "search", "description": "Finds.", "configuration": {"top": 3}},
}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def completions(core: Core, model: str) -> list[Hop]:
    return [
        hop for hop in core.requests if hop.path == f"/openai/deployments/{model}/chat/completions"
    ]


@proves("4")
async def test_tools_that_a_deployment_runs_itself_stand_behind_ours_and_are_never_run_here(
    core: Core, installation: Installation
):
    """§3.5."""

    def search(body: Mapping[str, Any]) -> Answer:
        if last(body)["role"] == "tool":
            return [{"text": last(body)["content"]}]
        return called("search", query="x")

    nonsense = {"type": "static_function", "static_function": {}}
    model = core.add_model("searching", search, defaults={"tools": [SEARCH, nonsense]})
    core.add_model("parrot")
    installation.add("searcher", "searching", helpers("parrot"))

    reply = await core.call_application("searcher", asking("Find"))

    *ours, theirs = model.asked[0]["tools"]
    assert ([tool["type"] for tool in ours], theirs) == (["function", "function"], SEARCH)
    assert said(reply).startswith("The tool 'search' runs at the model's service itself")


async def test_an_effort_that_a_model_does_not_know_is_left_out_and_told(
    core: Core, installation: Installation
):
    features = {"reasoningEfforts": ["low", "high"]}
    model = core.add_model("thinker", [[{"text": "Hm."}]], features=features)
    installation.add("thinking", "thinker", parameters={"reasoning_effort": "minimal", "seed": 7})

    reply = await core.call_application("thinking", asking("Think"))

    assert "reasoning_effort" not in model.asked[0]
    assert model.asked[0]["seed"] == 7
    [(title, content, status)] = stages(reply)
    assert (title, status) == ("Initialization issues", "completed")
    assert "'thinker' does not support 'minimal'" in content


async def test_headers_language_and_trace_go_on_to_every_deployment(
    core: Core, installation: Installation
):
    core.add_model("leader", ask_helper)
    core.add_model("parrot")
    installation.add("leading", "leader", helpers("parrot"))

    await core.call_application(
        "leading",
        asking("Go"),
        X_CONVERSATION_ID="talk%201",
        X_JOB_TITLE="Cook",
        X_My_Own="mine",
        accept_language="de-CH, de;q=0.9",
        traceparent=f"00-{TRACE}-00f067aa0ba902b7-01",
    )

    hops = [*completions(core, "leader"), *completions(core, "parrot")]
    assert len(hops) == 3
    for hop in hops:
        told = {
            name: hop.headers.get(name) for name in ("x-conversation-id", "x-job-title", "x-my-own")
        }
        assert told == {"x-conversation-id": "talk%201", "x-job-title": "Cook", "x-my-own": "mine"}
        assert hop.headers["accept-language"].startswith("de")
        assert hop.headers["traceparent"].split("-")[1] == TRACE
        assert not [name for name in hop.headers if name.startswith("x-dial-application")]
    bucket = next(hop for hop in core.requests if hop.path == "/v1/bucket")
    assert bucket.headers["traceparent"].split("-")[1] == TRACE


async def test_names_in_the_language_of_the_caller(core: Core, installation: Installation):
    """§8.8."""
    names = {"en": "Parrot", "de": "Papagei"}
    leader = core.add_model("leader-de", ask_helper)
    core.add_model("polyglot", displayName=names, description=names)
    installation.add("leading-de", "leader-de", helpers("polyglot"))

    await core.call_application("leading-de", asking("Los"), accept_language="de-CH, en;q=0.5")
    await core.call_application("leading-de", asking("Go"), accept_language="en")

    told = [body["tools"][0]["function"]["description"] for body in leader.asked]
    assert told == ["Papagei", "Papagei", "Parrot", "Parrot"]


@proves("R-28")
async def test_what_was_spent_is_told_whole_and_by_model(core: Core, installation: Installation):
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}

    def lead(body: Mapping[str, Any]) -> Answer:
        return [*ask_helper(body), {"usage": usage}]

    core.add_model("payer", lead)
    core.add_model("paid", [[{"text": "x"}, {"usage": usage}]])
    installation.add("paying", "payer", helpers("paid"))

    reply = await core.call_application("paying", asking("Go"))

    final = reply.events()[-1]
    assert (final["usage"]["prompt_tokens"], final["usage"]["total_tokens"]) == (30, 39)
    assert [
        (entry["model"], entry["total_tokens"]) for entry in final["statistics"]["usage_per_model"]
    ] == [("payer", 26), ("paid", 13)]


async def test_a_deployment_is_asked_about_once_by_all_that_want_to_know_at_once(
    core: Core, installation: Installation
):
    """The orchestrator's model is also a tool, so two parts of the run need its entry."""
    core.add_model("once", ask_helper)
    installation.add("asking-once", "once", helpers("once"))

    await core.call_application("asking-once", asking("Go"))

    asked = [hop.path for hop in core.requests]
    assert asked.count("/openai/models/once") == 1
    assert asked.count("/v1/bucket") == 1


async def test_what_one_caller_is_told_answers_nobody_else(core: Core, installation: Installation):
    """Core lets one of two projects use a model. The other project never sees it."""
    core.keys.add_project("key-of-insiders", {"project": "Insiders", "roles": ["inside"]})
    core.add_model("leader-two", ask_helper)
    core.add_model("secret", userRoles=["inside"], description="For insiders")
    installation.add("two", "leader-two", helpers("secret"))

    inside, outside = await asyncio.gather(
        core.call_application("two", asking("Go"), key="key-of-insiders"),
        core.call_application("two", asking("Go")),
    )
    again = await core.call_application("two", asking("Go"))

    assert said(inside) == "Hello"
    for reply in (outside, again):
        assert "For insiders" not in json.dumps(reply.events())
        [(title, content, _), *_] = stages(reply)
        assert title == "Initialization issues"
        assert "status 403" in content
