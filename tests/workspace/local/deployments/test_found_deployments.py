from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ValidationError

from apps.accounts.caller import Caller, ClientInfo
from apps.agent.answers.model_fallbacks import FallbackChain
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import Model, ModelRequest
from apps.demo.model import DemoModel
from apps.errors import DeploymentNotFound, Unsupported
from apps.workspace.local.deployments.found_deployments import find_deployment
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.openai.model import OpenAIService
from apps.workspace.port import DeploymentInfo
from apps.workspace.services.model import ServiceModel
from tests.tables import each_row

pytestmark = pytest.mark.django_db


async def asked_model(name: str, idle_seconds: float | None = None) -> Model:
    """Return the model that is called first."""
    chain = await WORKSPACE.model(name, idle_seconds=idle_seconds)
    return chain.candidates[0].model if isinstance(chain, FallbackChain) else chain


WORKSPACE = LocalWorkspace(Caller("user-1"))


async def make_deployment(**fields) -> Deployment:
    given = {
        "deployment_id": "gpt",
        "display_name": "GPT",
        "base_url": "https://models.example.com/v1",
        **fields,
    }
    return await Deployment.objects.acreate(**given)


@pytest.fixture
def always_asks(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)


async def test_a_deployment_is_known_by_what_its_row_says():
    await make_deployment(
        description="A model",
        features={"tools": True},
        input_attachment_types=["image/*"],
        context_window=8_000,
        parameters={"temperature": 0},
    )

    assert await WORKSPACE.deployment("gpt") == DeploymentInfo(
        id="gpt",
        display_name="GPT",
        description="A model",
        features={"tools": True},
        input_attachment_types=("image/*",),
        context_window=8_000,
        defaults={"temperature": 0},
        files="none",
    )


def is_sent_attachments(model: ServiceModel[Any]) -> bool:
    message = ModelMessage("user", "Hi", attachments=(Attachment(url="files/a"),))
    return b"custom_content" in model.api.encode(ModelRequest((message,)))


async def test_a_deployment_that_speaks_dial_is_sent_what_is_its_own_and_the_key_as_it_reads_it():
    schema = {"type": "object", "properties": {"tone": {"type": "string"}}}
    await make_deployment(features={"dial": True, "configuration_schema": schema}, api_key="secret")

    info = await WORKSPACE.deployment("gpt")
    model = await asked_model("gpt")

    assert (info.files, info.configuration_schema) == ("data", schema)
    assert isinstance(model, ServiceModel)
    assert is_sent_attachments(model)
    assert model.service.headers == (("Api-Key", "secret"),)


async def test_a_deployment_of_the_responses_api_tells_its_parameters_and_its_own_tools():
    search = {"type": "web_search", "search_context_size": "low"}
    await make_deployment(provider="openai_responses", base_url="", parameters={"tools": [search]})

    info = await WORKSPACE.deployment("gpt")
    found = await find_deployment("gpt")

    (tool,) = info.static_tools
    assert tool["static_function"]["name"] == "web_search"
    assert info.supported_parameters is not None
    assert {"temperature", "stop"} & info.supported_parameters == {"temperature"}
    assert found.base_url == "https://api.openai.com/v1"


async def test_a_service_may_be_silent_as_long_as_whoever_asks_it_says():
    await make_deployment()

    waits = [await asked_model("gpt"), await asked_model("gpt", 900)]

    assert [isinstance(m, ServiceModel) and m.idle_seconds for m in waits] == [300, 900]


async def test_headers_of_the_caller_are_sent_to_no_service():
    caller = Caller("user-1", client=ClientInfo(headers={"X-Tenant": "acme"}))
    await make_deployment(features={"dial": True}, api_key="secret")

    model = await LocalWorkspace(caller).model("gpt", headers=["X-Tenant"])

    assert isinstance(model, ServiceModel)
    assert model.service.headers == (("Api-Key", "secret"),)


async def test_a_deployment_of_the_demo_is_the_demo_model():
    await make_deployment(provider="demo", base_url="")

    assert isinstance(await asked_model("gpt"), DemoModel)


async def test_a_stored_key_wins_over_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("SPARE_API_KEY", "from the environment")
    await make_deployment(model_name="gpt-9", api_key="stored", api_key_env="SPARE_API_KEY")

    model = await asked_model("gpt")

    assert isinstance(model, ServiceModel)
    assert isinstance(model.service, OpenAIService)
    assert (model.name, is_sent_attachments(model)) == ("gpt-9", False)
    address = "https://models.example.com/v1"
    assert (model.service.base_url, model.service.api_key) == (address, "stored")


@pytest.mark.parametrize(
    ("variable", "key"),
    [("SPARE_API_KEY", "from the environment"), ("SECRET_KEY", ""), ("EMPTY_API_KEY", "")],
)
async def test_a_key_of_the_environment_has_to_be_named_as_one(monkeypatch, caplog, variable, key):
    monkeypatch.setenv("SPARE_API_KEY", "from the environment")
    monkeypatch.setenv("SECRET_KEY", "a secret of the server")
    await make_deployment(api_key_env=variable)

    model = await asked_model("gpt")

    assert isinstance(model, ServiceModel)
    assert isinstance(model.service, OpenAIService)
    assert model.service.api_key == key
    assert (
        f"Deployment gpt: the environment variable {variable} contains no key." in caplog.text
    ) == (not key)


async def test_a_key_in_a_file_is_read_again_for_each_answer(monkeypatch, caplog, tmp_path):
    file = tmp_path / "key"
    monkeypatch.setenv("SPARE_API_KEY_FILE", str(file))
    await make_deployment(api_key_env="SPARE_API_KEY")
    keys = []

    for content in ("first\n", "rotated\n", ""):
        file.write_text(content)
        model = await asked_model("gpt")
        assert isinstance(model, ServiceModel)
        assert isinstance(model.service, OpenAIService)
        keys.append(model.service.api_key)

    assert keys == ["first", "rotated", ""]
    assert f"Deployment gpt: SPARE_API_KEY_FILE: {file} is empty" in caplog.text


async def test_a_deployment_without_a_model_name_goes_by_its_id():
    await make_deployment()

    model = await asked_model("gpt")

    assert isinstance(model, ServiceModel)
    assert (model.name, model.service.headers) == ("gpt", ())


@pytest.mark.parametrize("name", ["gtp", "", "a\x00b", "x" * 1_000])
async def test_an_unknown_deployment_is_not_found(name):
    await make_deployment()

    with pytest.raises(DeploymentNotFound) as caught:
        await asked_model(name)

    assert caught.value.deployment_id == name


async def test_a_disabled_deployment_is_not_found(always_asks):
    row = await make_deployment()
    await WORKSPACE.deployment("gpt")

    row.is_enabled = False
    await row.asave()

    with pytest.raises(DeploymentNotFound):
        await WORKSPACE.deployment("gpt")


async def test_a_change_is_seen(always_asks):
    row = await make_deployment()
    await WORKSPACE.deployment("gpt")

    row.display_name = "New"
    await row.asave()

    assert (await WORKSPACE.deployment("gpt")).display_name == "New"


async def test_a_deployment_that_was_made_anew_is_not_mistaken_for_the_old_one(always_asks):
    row = await make_deployment()
    await WORKSPACE.deployment("gpt")

    await row.adelete()
    await make_deployment(display_name="Another")

    assert (await WORKSPACE.deployment("gpt")).display_name == "Another"


@pytest.mark.usefixtures("nothing_expires")
def test_the_database_is_asked_once_in_a_while(django_assert_num_queries):
    Deployment.objects.create(deployment_id="gpt", display_name="GPT", provider="demo")

    async def ask_often() -> None:
        for _ in range(5):
            await WORKSPACE.deployment("gpt")
            await asked_model("gpt")

    with django_assert_num_queries(1):
        async_to_sync(ask_often)()


async def test_a_row_that_has_not_changed_is_not_read_again(always_asks):
    await make_deployment()
    first = await find_deployment("gpt")

    assert await find_deployment("gpt") is first


async def test_keys_are_never_part_of_what_is_logged():
    await make_deployment(api_key="a secret")

    found = await find_deployment("gpt")

    assert "a secret" not in repr(found) + repr(await asked_model("gpt"))


async def test_prompts_of_dial_are_told_to_be_missing_here():
    with pytest.raises(Unsupported, match=r"prompt 'prompts/public/a' is stored in DIAL"):
        await WORKSPACE.prompt("prompts/public/a")


def test_two_people_who_save_at_once_make_two_versions():
    Deployment.objects.create(deployment_id="gpt", display_name="GPT", provider="demo")
    one, other = Deployment.objects.get(), Deployment.objects.get()

    one.save()
    other.save()

    assert (one.version, other.version) == (2, 3)
    assert Deployment.objects.get().version == 3


@each_row(
    ("fields", "field"),
    [
        ({"base_url": ""}, "base_url"),
        ({"features": []}, "features"),
        ({"parameters": "x"}, "parameters"),
        ({"input_attachment_types": {}}, "input_attachment_types"),
        ({"input_attachment_types": [1]}, "input_attachment_types"),
        ({"api_key_env": "SECRET_KEY"}, "api_key_env"),
        ({"deployment_id": "a b"}, "deployment_id"),
        ({"kind": "song"}, "kind"),
        ({"provider": "demo", "kind": "embedding"}, "kind"),
        ({"provider": "minilm", "kind": "chat"}, "kind"),
        ({"provider": "anthropic", "kind": "image"}, "kind"),
        ({"provider": "openai_responses", "kind": "embedding"}, "kind"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused_at_its_field(fields, field):
    given = {"deployment_id": "a", "display_name": "A", "base_url": "https://a.example.com/v1"}

    with pytest.raises(ValidationError) as caught:
        Deployment(**{**given, **fields}).full_clean()

    assert list(caught.value.message_dict) == [field]
