from __future__ import annotations

import pytest

from apps.workspace.local.deployments.capabilities import DEMO, capabilities_of, tool_limit
from apps.workspace.local.deployments.found_deployments import make_chat_model, read_row
from apps.workspace.local.models import Deployment
from apps.workspace.model_capabilities import UNKNOWN, ModelCapabilities
from apps.workspace.text_tools.model import TextToolModel
from tests.contract import proves


def row(**fields) -> Deployment:
    given = {"deployment_id": "d", "display_name": "D", "base_url": "http://models:1/v1", **fields}
    return Deployment(**given)


def facts(can: ModelCapabilities, *names: str) -> dict[str, object]:
    return {name: getattr(can, name) for name in names}


@proves("T-51")
def test_a_model_can_do_what_is_known_by_its_name():
    found = capabilities_of(row(model_name="gpt-3.5-turbo"))

    assert facts(found, "tools", "vision", "context_window", "max_output_tokens") == {
        "tools": True,
        "vision": False,
        "context_window": 16_385,
        "max_output_tokens": 4096,
    }


def test_the_deployments_id_is_the_name_of_a_model_without_one():
    assert capabilities_of(row(deployment_id="o1-mini")).tools is False


@proves("T-51")
def test_the_operators_word_wins_over_features_and_these_over_what_is_known():
    written = row(
        model_name="gpt-3.5-turbo",
        features={"tools": False, "parallel_tool_calls": False, "max_output_tokens": 100},
        input_attachment_types=["image/*"],
        parallel_tools=True,
        context_window=8000,
    )

    found = capabilities_of(written)

    names = ("tools", "parallel_tools", "vision", "context_window", "max_output_tokens")
    assert facts(found, *names) == {
        "tools": False,
        "parallel_tools": True,
        "vision": True,
        "context_window": 8000,
        "max_output_tokens": 100,
    }


def test_types_that_are_not_listed_are_not_known_to_be_unread():
    found = capabilities_of(row(input_attachment_types=["application/pdf"]))

    assert facts(found, "documents", "vision") == {"documents": True, "vision": None}


@pytest.mark.parametrize(
    ("fields", "can"),
    [
        ({"provider": "demo"}, DEMO),
        ({"provider": "minilm", "kind": "embedding"}, UNKNOWN),
        ({"kind": "image", "model_name": "gpt-4o"}, UNKNOWN),
        ({"features": {"dial": True}, "model_name": "gpt-4o"}, UNKNOWN),
    ],
)
def test_what_has_no_name_of_a_model_is_not_known_by_it(fields, can):
    assert capabilities_of(row(**fields)) == can


def test_the_window_of_a_model_that_the_catalogue_has_none_of_is_the_listed_one():
    found = capabilities_of(row(model_name="gpt-5.4", base_url="https://api.openai.com/v1"))

    assert found.context_window == 1_050_000


def test_the_longest_answer_is_the_limit_that_anthropics_api_requires():
    info = read_row(row(provider="anthropic", max_output_tokens=300)).info

    assert (info.features, info.can.max_output_tokens) == ({"max_output_tokens": 300}, 300)


@proves("T-51")
@pytest.mark.parametrize("text_tools", [True, False])
def test_a_model_without_tools_gets_them_as_text_where_that_is_on(text_tools):
    model = make_chat_model(read_row(row(tools=False, text_tools=text_tools)))

    assert isinstance(model, TextToolModel)
    assert (model.name, model.has_tools) == ("d", text_tools)


@pytest.mark.parametrize(
    ("address", "features", "most"),
    [
        ("https://api.openai.com/v1", {}, 128),
        ("https://mine.openai.azure.com/openai/v1", {}, 128),
        ("https://api.openai.com/v1", {"max_tools": 64}, 64),
        ("https://models.example/v1", {"max_tools": "many"}, None),
        ("https://models.example/v1", {"max_tools": 20}, 20),
    ],
)
def test_the_most_tools_of_a_request_are_those_of_the_service(address, features, most):
    assert tool_limit(Deployment(base_url=address, features=features)) == most
