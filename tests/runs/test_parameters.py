from __future__ import annotations

import pytest

from apps.runs.parameters import overlaid
from apps.workspace.port import DeploymentInfo


def info(**fields) -> DeploymentInfo:
    return DeploymentInfo("gpt", "GPT", **fields)


def test_the_manifest_wins_over_the_deployment_and_the_client_over_both():
    deployment = info(defaults={"temperature": 1.0, "seed": 1, "response_format": {"type": "a"}})

    found = overlaid({"temperature": 0.0}, deployment, {"type": "b"})

    assert found == ({"temperature": 0.0, "seed": 1, "response_format": {"type": "b"}}, ())


@pytest.mark.parametrize("known", [(), ("low", "high")])
def test_an_effort_is_kept_if_the_deployment_knows_it_or_says_nothing_of_efforts(known):
    assert overlaid({"reasoning_effort": "low"}, info(reasoning_efforts=known)) == (
        {"reasoning_effort": "low"},
        (),
    )


@pytest.mark.parametrize("place", ["manifest", "deployment"])
def test_an_effort_that_the_deployment_does_not_know_is_left_out_and_told(place):
    effort = {"reasoning_effort": "minimal"}
    own, defaults = (effort, {}) if place == "manifest" else ({}, effort)

    wanted, (issue,) = overlaid(own, info(reasoning_efforts=("low", "high"), defaults=defaults))

    assert wanted == {}
    assert (issue.section, issue.is_hard) == ("Orchestrator", False)
    assert issue.message == (
        "orchestrator.deployment.parameters.reasoning_effort: 'gpt' does not support 'minimal', "
        "so the model is asked without it. Write one of 'low', 'high', or leave it out."
    )
