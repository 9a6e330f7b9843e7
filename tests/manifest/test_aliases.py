import pytest

from apps.manifest.aliases import with_own_names
from tests.contract import proves

MODEL = {"deployment": {"deployment_id": "gpt"}}


@proves("R-01")
@pytest.mark.parametrize(
    "document",
    [
        {"orchestrator": {**MODEL, "MaxTurns": 7}, "tool_sets": []},
        {"orchestrator": {**MODEL, "maxIterations": 7}, "tool_sets": []},
        {"orchestrator": MODEL, "tool_sets": [], "MaxTurns": 7},
        {"orchestrator": MODEL, "tool_sets": [], "maxIterations": 7},
    ],
)
def test_r_01_other_names_of_the_limit_become_ours(document):
    assert with_own_names(document) == {
        "orchestrator": {**MODEL, "max_iterations": 7},
        "tool_sets": [],
    }


@pytest.mark.parametrize(
    "document",
    [
        {"orchestrator": {**MODEL, "max_iterations": 3, "MaxTurns": 7}},
        {"orchestrator": {**MODEL, "MaxTurns": 7}, "maxIterations": 8},
        {"orchestrator": "gpt", "MaxTurns": 7},
        {"MaxTurns": 7},
        ["MaxTurns"],
        None,
    ],
)
def test_r_01_what_is_said_twice_or_of_no_orchestrator_stays_as_it_is(document):
    assert with_own_names(document) == document
