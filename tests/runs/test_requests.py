from __future__ import annotations

import logging

import pytest

from apps.capabilities.chat_context import ChatContext
from apps.errors import BadRequest
from apps.runs.requests import RunRequest, client_parameters, model_parameters, possible_efforts
from apps.workspace.model_capabilities import ModelCapabilities
from apps.workspace.port import DeploymentInfo
from apps.workspace.services.static_tools import listed_tools


def info(**fields) -> DeploymentInfo:
    return DeploymentInfo("gpt", "GPT", **fields)


def test_the_manifest_wins_over_the_deployment_and_the_client_over_both():
    deployment = info(defaults={"temperature": 1.0, "seed": 1, "response_format": {"type": "a"}})

    found = model_parameters({"temperature": 0.0}, deployment, {"type": "b"})

    assert found == ({"temperature": 0.0, "seed": 1, "response_format": {"type": "b"}}, ())


def test_what_a_client_asks_for_stands_between_the_deployment_and_the_manifest():
    deployment = info(defaults={"temperature": 1.0, "seed": 1, "user": "a"})

    found = model_parameters(
        {"temperature": 0.0}, deployment, None, {"temperature": 2.0, "seed": 2}
    )

    assert found == ({"temperature": 0.0, "seed": 2, "user": "a"}, ())


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_limit_of_the_client_replaces_that_of_the_deployment_by_whichever_name(name):
    deployment = info(defaults={"max_tokens": 9})

    assert model_parameters({}, deployment, None, {name: 5}) == ({name: 5}, ())


def test_an_effort_of_the_client_that_the_deployment_does_not_know_is_refused():
    deployment = info(reasoning_efforts=("low", "high"))

    with pytest.raises(BadRequest) as refused:
        model_parameters({}, deployment, None, {"reasoning_effort": "minimal"})

    assert str(refused.value) == (
        "reasoning_effort: the model does not support 'minimal'. Use one of 'low', 'high', or "
        "omit this parameter."
    )


@pytest.mark.parametrize("known", [(), ("low", "high")])
def test_an_effort_is_kept_if_the_deployment_knows_it_or_says_nothing_of_efforts(known):
    assert model_parameters({"reasoning_effort": "low"}, info(reasoning_efforts=known)) == (
        {"reasoning_effort": "low"},
        (),
    )


@pytest.mark.parametrize("place", ["manifest", "deployment"])
def test_an_effort_that_the_deployment_does_not_know_is_left_out_and_told(place):
    effort = {"reasoning_effort": "minimal"}
    own, defaults = (effort, {}) if place == "manifest" else ({}, effort)

    wanted, (issue,) = model_parameters(
        own, info(reasoning_efforts=("low", "high"), defaults=defaults)
    )

    assert wanted == {}
    assert (issue.section, issue.is_hard) == ("Orchestrator", False)
    assert issue.message == (
        "orchestrator.deployment.parameters.reasoning_effort: 'gpt' does not support "
        "'minimal', so it is not sent. Use one of 'low', 'high', or omit this parameter."
    )


def test_the_tools_that_a_deployment_runs_itself_stand_beside_ours_as_they_are_listed(caplog):
    """§3.5."""
    caplog.set_level(logging.DEBUG, logger="apps.workspace.services.static_tools")
    search = {"type": "static_function", "static_function": {"name": "search", "own": [1]}}
    nonsense = [
        {"type": "function"},
        {"type": "static_function"},
        5,
        {**search, "static_function": {}},
    ]
    deployment = info(defaults={"seed": 1, "tools": [search, *nonsense]})

    assert listed_tools(deployment.defaults, deployment.id) == (search,)
    assert model_parameters({}, deployment) == ({"seed": 1}, ())
    assert [record.getMessage() for record in caplog.records] == [
        f"defaults.tools.{number} of gpt is not a static function" for number in range(1, 5)
    ]


@pytest.mark.parametrize("listed", [None, {}, "search"])
def test_what_is_no_list_of_tools_is_as_if_nothing_was_said(listed):
    assert listed_tools({"tools": listed}, "gpt") == ()


@pytest.mark.parametrize(("chosen", "found"), [("high", {"reasoning_effort": "high"}), ("max", {})])
def test_an_effort_that_a_person_chose_is_asked_for_if_the_deployment_knows_it(chosen, found):
    request = RunRequest((), chat=ChatContext(effort=chosen))

    assert client_parameters(request, info(reasoning_efforts=("low", "high"))) == found
    assert client_parameters(request, info()) == {}


def test_a_model_that_thinks_and_lists_nothing_knows_the_common_efforts():
    thinks = ModelCapabilities(reasoning=True)

    assert possible_efforts(info(can=thinks)) == ("low", "medium", "high")
    assert possible_efforts(info(can=thinks, supported_parameters=frozenset())) == ()
    assert possible_efforts(info()) == ()
