"""The embedder of each workspace for a deployment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apps.accounts.caller import Caller, Credentials
from apps.errors import CallsItself, DeploymentNotFound, ServiceFailed
from apps.runs.workspaces import InstalledFirst
from apps.workspace.dial.core import Core
from apps.workspace.embeddings.built_in import BuiltInEmbedder
from apps.workspace.embeddings.service import ServiceEmbedder
from apps.workspace.local.deployments.found_deployments import NotOfThatKind
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.openai.embeddings import OpenAIEmbeddings
from apps.workspace.openai.model import OpenAIService
from tests.capabilities.service import json_reply
from tests.workspace.dial.callers import scripted

LOCAL = LocalWorkspace(Caller("user-1"))
CORE = InstalledFirst(
    Caller("", credentials=Credentials(api_key="core-key")), Core("http://127.0.0.1:1")
)
SERVICE = {"base_url": "https://a.example.com/v1", "api_key": "k", "model_name": "large"}


async def make_deployment(**fields: Any) -> None:
    given = {"deployment_id": "vectors", "display_name": "Vectors", "kind": "embedding"}
    await Deployment.objects.acreate(**given | fields)


@pytest.mark.django_db
@pytest.mark.parametrize("workspace", [LOCAL, CORE], ids=["local", "installed first"])
async def test_a_deployment_of_this_installation_is_asked_with_its_own_key(workspace: Any):
    window = {"context_window": 512, "parameters": {"dimensions": 256}}
    await make_deployment(**SERVICE, **window)

    found = await workspace.embedder("vectors")

    assert (found.model, found.window, found.parameters) == ("large", 512, {"dimensions": 256})
    assert isinstance(found.service, OpenAIEmbeddings)
    service = found.service.service
    assert isinstance(service, OpenAIService)
    assert (service.base_url, service.headers, service.api_key) == (
        "https://a.example.com/v1",
        (("Accept", "application/json"),),
        "k",
    )


@pytest.mark.django_db
async def test_a_service_that_speaks_dial_gets_the_key_in_its_header():
    await make_deployment(**SERVICE, features={"dial": True})

    found: Any = await LOCAL.embedder("vectors")

    assert dict(found.service.service.headers) == {"Accept": "application/json", "Api-Key": "k"}


@pytest.mark.django_db
async def test_the_default_is_what_comes_with_the_server_or_what_is_set(settings: Any):
    await make_deployment(**SERVICE)

    assert await LOCAL.embedder(None) == await CORE.embedder(None) == BuiltInEmbedder()
    settings.EMBEDDINGS_DEPLOYMENT = "vectors"
    assert [(await own.embedder(None)).model for own in (LOCAL, CORE)] == ["large", "large"]


@pytest.mark.django_db
async def test_the_built_in_embedder_is_a_deployment_too():
    await make_deployment(deployment_id="all-minilm-l6-v2", provider="minilm")

    assert await LOCAL.embedder("all-minilm-l6-v2") == BuiltInEmbedder()


@pytest.mark.django_db
async def test_a_deployment_does_only_what_its_kind_does():
    await make_deployment(**SERVICE)
    await make_deployment(deployment_id="chat", kind="chat", **SERVICE)

    for workspace in (LOCAL, CORE):
        with pytest.raises(
            NotOfThatKind, match="'chat' configured in this application is not of the kind emb"
        ):
            await workspace.embedder("chat")
        with pytest.raises(
            NotOfThatKind, match="'vectors' configured in this application is not of the kind chat"
        ):
            await workspace.model("vectors")
    with pytest.raises(DeploymentNotFound):
        await LOCAL.embedder("none")
    assert (await LOCAL.deployment("vectors")).kind == "embedding"


async def test_core_is_asked_with_the_callers_key(settings: Any):
    reply = json_reply('{"data": [{"index": 0, "embedding": [0, 2]}]}')
    headers = {"X-Team": "a"}
    async with scripted(settings, reply, headers=headers, key="the-key") as (core, own):
        embedder = await own.inside("travel").embedder("text-embedding")
        found = await embedder.embed(["tea"])

    (seen,) = core.seen
    assert seen.target.startswith("/openai/deployments/text-embedding/embeddings?api-version=")
    assert seen.told("api-key", "x-team", "x-quickapps-chain") == {
        "api-key": "the-key",
        "x-team": "a",
        "x-quickapps-chain": "travel",
    }
    assert isinstance(embedder, ServiceEmbedder)
    assert (found.model, seen.body) == (
        "text-embedding",
        b'{"encoding_format":"float","model":"text-embedding","input":["tea"]}',
    )
    np.testing.assert_array_equal(found.vectors, [[0.0, 1.0]])


@pytest.mark.parametrize("status", [404, 403, 400])
async def test_what_core_refuses_is_told_with_its_status(settings: Any, status: int):
    async with scripted(settings, json_reply("{}", status)) as (_, own):
        embedder = await own.embedder("text-embedding")
        with pytest.raises(ServiceFailed) as caught:
            await embedder.embed(["tea"])

    assert caught.value.status == status


async def test_an_application_is_no_embedder_of_its_own(settings: Any):
    async with scripted(settings, json_reply("{}")) as (_, own):
        with pytest.raises(CallsItself):
            await own.inside("travel").embedder("travel")
