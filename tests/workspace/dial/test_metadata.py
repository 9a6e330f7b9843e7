from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from apps.errors import DeploymentNotFound, ServiceFailed
from apps.workspace.dial.cache import find_cache
from apps.workspace.dial.metadata import Metadata
from apps.workspace.port import DeploymentInfo
from tests.capabilities.service import Reply, json_reply
from tests.workspace.dial.callers import called, scripted, workspace

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
        "DIAL Core answered GET /openai/models/m with status 403: Forbidden deployment: m",
    )


async def test_what_core_told_is_kept_for_the_same_credentials_alone(fake):
    fake.add_model("m")

    with called(fake) as first:
        for own in (first, first.inside("x"), workspace(fake.url, key=first.caller.api_key)):
            await own.deployment("m")
        assert len(fake.requests) == 1
        await workspace(fake.url).deployment("m")
        assert len(fake.requests) == 2
        fake.keys.expire(first.caller.api_key)
    with called(fake) as second:
        await second.deployment("m")

    assert len(fake.requests) == 3


async def test_a_caller_who_lost_the_right_learns_nothing_of_what_another_was_told(fake):
    fake.add_model("m", userRoles=["default"])
    fake.keys.add_project("other", {"project": "Other", "roles": ["guest"]})
    await workspace(fake.url).deployment("m")

    with pytest.raises(ServiceFailed):
        await workspace(fake.url, key="other").deployment("m")


async def test_what_is_too_old_is_asked_for_again(fake):
    fake.add_model("m")
    own = workspace(fake.url, metadata_seconds=0.0)

    await own.deployment("m")
    await own.deployment("m")

    assert len(fake.requests) == 2


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
        await asyncio.wait_for(service.asked.wait(), 5)
        first.cancel()
        go.set()

        assert (await second).id == "m"
        with pytest.raises(asyncio.CancelledError):
            await first
        assert len(service.seen) == 1


async def test_nothing_of_a_manifest_is_kept(settings):
    written = {"display_name": "App", "application_properties": {"orchestrator": "secret"}}
    async with scripted(settings, reply(written)) as (_, own):
        await own.deployment("applications/b7/app")

        (kept,) = find_cache().kept.values()
        assert kept.value == Metadata({"display_name": "App"}, is_application=True)


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
