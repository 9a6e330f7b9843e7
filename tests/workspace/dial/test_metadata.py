from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from apps.agent.answers.replies import ask_model
from apps.agent.model import ModelRequest
from apps.agent.stages import silent
from apps.errors import DeploymentNotFound, ModelFailed, ServiceFailed, Unsupported
from apps.workspace.dial.metadata import Metadata, capabilities_of
from apps.workspace.model_capabilities import ModelCapabilities
from apps.workspace.port import DeploymentInfo, McpEndpoint
from apps.workspace.services.model import ServiceModel
from apps.workspace.text_tools.model import TextToolModel
from tests.capabilities.service import Reply, json_reply
from tests.contract import proves
from tests.workspace.dial.callers import called, scripted, vouched, workspace

MODEL: dict[str, Any] = {
    "id": "gpt-4o",
    "model": "gpt-4o",
    "display_name": {"en": "Big", "de": "Groß"},
    "description": {"en": "Thinks"},
    "features": {
        "tools": True,
        "url_attachments": False,
        "configuration": False,
        "reasoning_efforts": ["low", "high"],
    },
    "input_attachment_types": ["image/*"],
    "limits": {"max_total_tokens": 128000},
    "defaults": {
        "temperature": 0,
        "tools": [{"type": "static_function", "static_function": {"name": "search"}}],
    },
}


def reply(value, status=200):
    return json_reply(json.dumps(value), status)


def paths(fake):
    return [request.path for request in fake.requests]


async def test_all_that_core_tells_of_a_model_is_known(settings):
    async with scripted(settings, reply(MODEL), locale="de-CH") as (service, own):
        found = await own.deployment("gpt-4o")

    assert found == DeploymentInfo(
        id="gpt-4o",
        display_name="Groß",
        description="Thinks",
        features={"tools": True, "url_attachments": False, "configuration": False},
        reasoning_efforts=("low", "high"),
        input_attachment_types=("image/*",),
        context_window=128000,
        defaults=MODEL["defaults"],
        static_tools=tuple(MODEL["defaults"]["tools"]),
        files="path",
    )
    assert service.targets == ["GET /openai/models/gpt-4o"]


async def test_what_core_leaves_out_is_as_if_nothing_was_said_of_it(settings):
    odd: dict[str, Any] = {"features": None, "limits": [], "defaults": "x", "display_name": None}
    async with scripted(settings, reply(odd)) as (_, own):
        assert await own.deployment("m") == DeploymentInfo("m", "m")


async def test_where_the_prompt_has_a_limit_of_its_own_that_is_the_window(settings):
    limits = {"max_prompt_tokens": 1000, "max_completion_tokens": 10}
    async with scripted(settings, reply({"limits": limits})) as (_, own):
        assert (await own.deployment("m")).context_window == 1000


async def test_a_name_is_a_model_or_an_application_and_a_path_an_application(fake):
    fake.add_model("both")
    fake.add_application("both-app", "http://127.0.0.1:9/chat/completions", displayName="Two")
    own = workspace(fake.url)

    assert (await own.deployment("both")).display_name == "both"
    assert (await own.deployment("both-app")).display_name == "Two"
    with pytest.raises(DeploymentNotFound):
        await own.deployment("none")
    with pytest.raises(DeploymentNotFound):
        await own.deployment("applications/b7/My App")

    assert paths(fake) == [
        "/openai/models/both",
        "/openai/models/both-app",
        "/openai/applications/both-app",
        "/openai/models/none",
        "/openai/applications/none",
        "/openai/applications/applications/b7/My%20App",
    ]


async def test_the_configuration_of_a_deployment_is_asked_for_where_there_is_one(settings):
    schema = {"type": "object", "properties": {"tone": {"type": "string"}}}
    metadata = {"features": {"configuration": True}}
    async with scripted(settings, reply(metadata), reply(schema)) as (service, own):
        info = await own.deployment("applications/b7/a b")

    assert info.configuration_schema == schema
    assert service.targets == [
        "GET /openai/applications/applications/b7/a%20b",
        "GET /v1/deployments/applications/b7/a%20b/configuration",
    ]


@pytest.mark.parametrize("answer", [Reply(200), Reply(403, b"no"), reply([1])])
async def test_a_configuration_that_cannot_be_told_is_none(settings, answer):
    metadata = {"features": {"configuration": True}}
    async with scripted(settings, reply(metadata), answer) as (_, own):
        assert (await own.deployment("applications/b7/a")).configuration_schema == {}


async def test_a_deployment_that_the_caller_may_not_use_is_refused(fake):
    fake.add_model("m", userRoles=["admin"])

    with pytest.raises(ServiceFailed) as caught:
        await workspace(fake.url).deployment("m")

    assert (caught.value.status, str(caught.value)) == (
        403,
        "DIAL Core returned status 403 for GET /openai/models/m: Forbidden deployment: m",
    )


async def test_a_caller_asks_for_a_deployment_once_and_each_caller_for_itself(fake):
    fake.add_model("m")

    with called(fake) as first, called(fake) as second:
        for own in (first, first.inside("x")):
            await own.deployment("m")
        assert len(fake.requests) == 1
        await second.deployment("m")

    assert len(fake.requests) == 2


async def test_a_caller_who_lost_the_right_learns_nothing_of_what_another_was_told(fake):
    fake.add_model("m", userRoles=["default"])
    fake.keys.add_project("other", {"project": "Other", "roles": ["guest"]})
    await workspace(fake.url).deployment("m")

    with pytest.raises(ServiceFailed):
        await workspace(fake.url, key="other").deployment("m")


# --- What the keys of one application share -----------------------------------------------------


async def test_what_is_needed_to_ask_a_model_is_asked_for_once_by_all_keys_of_an_application(fake):
    fake.add_model(
        "m",
        displayName="Big",
        description="Thinks",
        features={"toolsSupported": True, "configurationEndpoint": f"{fake.url}/health"},
        limits={"max_total_tokens": 9},
    )
    found = []
    for _ in range(2):
        async with vouched(fake) as own:
            found.append(await own.facts("m"))

    assert found[0] is found[1]
    assert (found[0].display_name, found[0].description) == ("m", "")
    assert (found[0].features["tools"], found[0].context_window) == (True, 9)
    assert paths(fake) == ["/v1/bucket", "/openai/models/m", "/v1/bucket"]


async def test_keys_of_another_application_and_other_keys_share_nothing(fake):
    fake.add_model("m")
    async with vouched(fake) as own:
        await own.facts("m")
    fake.requests.clear()

    async with vouched(fake, "other") as another:
        await another.facts("m")
    await workspace(fake.url).facts("m")
    await workspace(fake.url).facts("m")

    assert paths(fake) == ["/v1/bucket", *["/openai/models/m"] * 3]


async def test_a_key_without_the_role_for_a_model_is_shown_nothing_and_refused_there(fake):
    fake.add_model("m", displayName="Secret name", userRoles=["default"])
    fake.keys.add_project("guest", {"project": "Guests", "roles": ["guest"]})
    async with vouched(fake) as own:
        await own.facts("m")

    async with vouched(fake, key="guest") as guest:
        facts = await guest.facts("m")
        with pytest.raises(ServiceFailed, match="status 403"):
            await guest.deployment("m")
        with pytest.raises(ModelFailed, match="status 403"):
            await ask_model(await guest.model("m"), ModelRequest([]), silent, name="m")

    assert "Secret name" not in repr(facts)


async def test_what_a_key_without_the_role_is_refused_is_not_kept(fake):
    fake.add_model("m", userRoles=["default"])
    fake.keys.add_project("guest", {"project": "Guests", "roles": ["guest"]})
    async with vouched(fake, key="guest") as guest:
        with pytest.raises(ServiceFailed, match="status 403"):
            await guest.facts("m")

    async with vouched(fake) as own:
        assert (await own.facts("m")).id == "m"


@pytest.mark.parametrize(("seconds", "questions"), [(60.0, 1), (5.0, 2), (0.0, 2)])
async def test_what_is_too_old_is_asked_for_again(fake, wait, seconds, questions):
    fake.add_model("m")
    for _ in range(2):
        async with vouched(fake, metadata_seconds=seconds) as own:
            await own.facts("m")
        wait(10)

    assert paths(fake).count("/openai/models/m") == questions


async def test_a_failure_is_shared_with_nobody(fake):
    async with vouched(fake) as own:
        with pytest.raises(DeploymentNotFound):
            await own.facts("late")
    fake.add_model("late")

    async with vouched(fake) as own:
        assert (await own.facts("late")).id == "late"


async def test_a_deployment_that_is_known_is_not_asked_for_again_to_ask_it(fake):
    fake.add_model("m")
    async with vouched(fake) as own:
        await own.deployment("m")
        await own.facts("m")

    assert paths(fake).count("/openai/models/m") == 1


# --- At the same time ---------------------------------------------------------------------------


async def test_those_who_ask_at_the_same_time_wait_for_one_answer(fake):
    fake.add_model("m")
    own = workspace(fake.url)

    found = await asyncio.gather(*(own.inside(str(n)).deployment("m") for n in range(5)))

    assert len(set(map(repr, found))) == 1
    assert len(fake.requests) == 1


async def test_one_who_leaves_does_not_take_the_answer_from_the_others(settings):
    go = asyncio.Event()

    async def answer(seen):
        await go.wait()
        return reply(MODEL)

    async with scripted(settings, answer=answer) as (service, own):
        first = asyncio.ensure_future(own.deployment("m"))
        second = asyncio.ensure_future(own.deployment("m"))
        await asyncio.wait_for(service.asked.wait(), 60)
        first.cancel()
        go.set()

        assert (await second).id == "m"
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_nothing_of_a_manifest_is_kept(settings):
    written = {"display_name": "App", "application_properties": {"orchestrator": "secret"}}
    async with scripted(settings, reply(written)) as (_, own):
        await own.deployment("applications/b7/app")

        assert list(own.calls.cache.values()) == [
            Metadata({"display_name": "App"}, is_application=True),
            {},
        ]


async def test_a_failure_is_not_kept(settings):
    async with scripted(settings, Reply(500, b"oops"), reply(MODEL)) as (_, own):
        with pytest.raises(ServiceFailed):
            await own.deployment("m")

        assert (await own.deployment("m")).display_name == "Big"


async def test_the_usable_deployments_are_those_of_core(fake):
    fake.add_model("m")
    fake.add_model("hidden", userRoles=["admin"])
    fake.add_application("app", "http://127.0.0.1:9/chat/completions")

    assert await workspace(fake.url).usable_deployments() == frozenset({"m", "app"})
    assert fake.requests[0].target == ("/v1/deployment-names?type=model%2Capplication%2Ctoolset")


@pytest.mark.parametrize(
    "answer", [Reply(500), reply({"data": []}), reply([{"name": "x"}]), Reply(200, b"<html>")]
)
async def test_where_core_does_not_tell_what_is_usable_nothing_is_known(settings, answer, caplog):
    async with scripted(settings, answer) as (_, own):
        assert await own.usable_deployments() is None

    assert "deployments" in caplog.text


def capabilities(
    name: str = "own-model", is_application: bool = False, **written
) -> ModelCapabilities:
    return capabilities_of(name, Metadata(written, is_application=is_application))


@proves("T-51")
def test_what_a_model_can_do_is_told_by_cores_listing_and_else_known_by_its_name():
    can = capabilities(
        "gpt-3.5-turbo",
        features={"tools": True, "parallel_tool_calls": False, "cache": True},
        input_attachment_types=["image/*"],
        limits={"max_total_tokens": 9000, "max_completion_tokens": 100},
    )

    assert (can.tools, can.parallel_tools, can.caching) == (True, True, True)
    assert (can.vision, can.documents, can.structured_output) == (True, False, False)
    assert (can.context_window, can.max_output_tokens) == (9000, 100)


@pytest.mark.parametrize(
    ("name", "features", "tools"),
    [
        ("own-model", {"tools": True}, (True, True)),
        ("own-model", {"tools": False}, (None, False)),
        ("own-model", {}, (None, None)),
        ("gpt-4o", {"tools": False}, (True, True)),
        ("o1-mini", {}, (False, False)),
    ],
)
def test_that_core_lists_no_tools_counts_only_where_somebody_has_set_that(
    settings, name, features, tools
):
    """Core lists this for every model whose entry does not mention tools."""
    found = []
    for is_set in (False, True):
        settings.DIAL_TOOLS_FLAG_IS_SET = is_set
        found.append(capabilities(name, features=features).tools)

    assert tuple(found) == tools


def test_of_an_application_the_limits_alone_are_known():
    limits = {"max_total_tokens": 9000}
    can = capabilities("gpt-4", is_application=True, features={"tools": False}, limits=limits)

    assert can == ModelCapabilities(context_window=9000)


async def test_a_model_without_tools_is_asked_in_text_once_core_has_told_of_it(settings):
    settings.DIAL_TOOLS_FLAG_IS_SET = True
    async with scripted(settings, reply({"features": {"tools": False}})) as (_, own):
        unknown = await own.model("own-model")
        await own.facts("own-model")
        known = await own.model("own-model")

    assert isinstance(unknown, ServiceModel)
    assert isinstance(known, TextToolModel)


TOOLSET = {
    "display_name": {"en": "Desk", "de": "Pult"},
    "description": "Answers",
    "transport": "HTTP",
    "auth_settings": {"authentication_type": "OAUTH"},
}


async def test_a_toolset_is_spoken_with_through_core(settings):
    headers = {"x-conversation-id": "c1", "x-odd": "n\u00e4ive"}
    async with scripted(settings, reply(TOOLSET), bearer="jwt", headers=headers) as (service, own):
        found = await own.mcp_endpoint("toolsets/b7/My desk")

    assert found == McpEndpoint(
        url=f"{service.url}/v1/toolset/toolsets/b7/My%20desk/mcp",
        headers={
            "Api-Key": "dial-demo-key",
            "Authorization": "Bearer jwt",
            "Accept-Language": "en",
            "x-conversation-id": "c1",
        },
        protocol="streamable_http",
        display_name={"en": "Desk", "de": "Pult"},
        description="Answers",
    )
    assert service.targets == ["GET /openai/toolsets/toolsets/b7/My%20desk"]
    assert "dial-demo-key" not in repr(found)


async def test_core_says_how_a_toolset_is_spoken_with(settings):
    async with scripted(settings, reply({**TOOLSET, "transport": "SSE"})) as (_, own):
        assert (await own.mcp_endpoint("desk")).protocol == "sse"


async def test_each_caller_asks_what_a_toolset_is_called_and_has_a_key_of_its_own(fake):
    fake.configuration.add(fake.configuration.deployment("desk", "toolset", {"transport": "HTTP"}))

    with called(fake) as first, called(fake) as second:
        endpoints = [await own.mcp_endpoint("desk") for own in (first, second)]

        assert [e.headers["Api-Key"] for e in endpoints] == [
            own.caller.credentials.api_key for own in (first, second)
        ]
        await first.mcp_endpoint("desk")
    assert [request.path for request in fake.requests] == ["/openai/toolsets/desk"] * 2


async def test_one_who_is_refused_does_not_speak_for_others(fake):
    fields = {"transport": "HTTP", "userRoles": ["default"]}
    fake.configuration.add(fake.configuration.deployment("desk", "toolset", fields))
    fake.keys.add_project("guest-key", {"project": "Guests", "roles": ["guest"]})

    with pytest.raises(ServiceFailed) as caught:
        await workspace(fake.url, key="guest-key").mcp_endpoint("desk")

    assert caught.value.status == 403
    assert (await workspace(fake.url).mcp_endpoint("desk")).url.endswith("/toolset/desk/mcp")


async def test_an_application_that_offers_its_tools_is_spoken_with_likewise(settings):
    app = {"display_name": "Planner", "features": {"mcp": True}}
    async with scripted(settings, reply(app)) as (service, own):
        found = await own.mcp_endpoint("applications/b7/planner")

    assert found.url == f"{service.url}/v1/toolset/applications/b7/planner/mcp"
    assert (found.display_name, found.protocol) == ("Planner", "streamable_http")
    assert service.targets == ["GET /openai/applications/applications/b7/planner"]


async def test_a_deployment_that_offers_no_tools_is_told(fake):
    fake.add_model("m")
    own = workspace(fake.url)

    with pytest.raises(Unsupported, match="'m' does not offer its tools over MCP"):
        await own.mcp_endpoint("m")
    with pytest.raises(DeploymentNotFound):
        await own.mcp_endpoint("none")


async def test_a_toolset_that_cannot_be_asked_for_is_no_toolset_that_is_missing(settings):
    async with scripted(settings, Reply(500)) as (_, own):
        with pytest.raises(ServiceFailed):
            await own.mcp_endpoint("desk")
