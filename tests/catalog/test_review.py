from __future__ import annotations

import json

import pytest

from apps.catalog.review import Finding, review_manifest, review_text
from apps.manifest.problems import Problem
from tests.catalog.rows import make_application, make_deployment, manifest_with

pytestmark = pytest.mark.django_db


def names(deployment_id: str) -> dict[str, object]:
    return manifest_with(orchestrator={"deployment": {"deployment_id": deployment_id}})


def test_an_unknown_deployment_is_a_warning_that_names_near_ones():
    make_deployment("gpt-large")
    make_deployment("something-else")

    review = review_manifest(names("gpt-larg"))

    assert review.errors == ()
    assert review.warnings == (
        Problem(
            "orchestrator.deployment.deployment_id",
            "there is no deployment 'gpt-larg' in this installation; did you mean 'gpt-large'?",
        ),
    )


def test_a_disabled_deployment_is_a_warning():
    make_deployment("gpt-large", is_enabled=False)

    assert review_manifest(names("gpt-large")).warnings == (
        Problem(
            "orchestrator.deployment.deployment_id",
            "the deployment 'gpt-large' is disabled; enable it or name another.",
        ),
    )


def test_applications_and_resources_of_a_core_are_known_deployments():
    make_application("helper")

    assert review_manifest(names("helper")).warnings == ()
    assert review_manifest(names("applications/public/helper")).warnings == ()


def test_findings_have_the_place_of_the_mistake():
    make_deployment("demo-model")
    text = json.dumps({**manifest_with(), "tool_sets": {}}, indent=2)

    findings = review_text(text)

    assert [(found.severity, found.path, found.line) for found in findings] == [
        ("error", "tool_sets", 8)
    ]


def test_text_that_is_no_json_has_one_finding():
    assert review_text('{\n  "a": tru\n}') == [
        Finding("error", "", "Line 2, column 8: not valid JSON: Expecting value.", 2, 8)
    ]


@pytest.mark.parametrize("manifest", [None, [], "text", 1, {}, {"orchestrator": None}])
def test_whatever_is_no_manifest_has_errors(manifest):
    assert review_manifest(manifest).errors != ()
