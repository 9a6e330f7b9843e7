from __future__ import annotations

import json
from typing import Any

import pytest

from apps.catalog.review.manifests import Finding, review_manifest, review_text, wrong_kinds
from apps.manifest.problems import Problem
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.contract import proves

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
            "the deployment 'gpt-large' is disabled; enable it or choose another.",
        ),
    )


def test_a_prompt_that_fills_the_window_of_its_model_is_a_warning():
    make_deployment("small", context_window=1000)
    document: Any = names("small")
    prompt = {"type": "custom", "content": "word " * 800, "variables": {}}
    document["orchestrator"]["system_prompt"] = prompt

    assert review_manifest(document).warnings == (
        Problem(
            "orchestrator.system_prompt.content",
            "has about 1,000 tokens; the limit of small is 1,000, including the question.",
        ),
    )
    prompt["content"] = "word " * 790
    assert review_manifest(document).warnings == ()


def test_applications_and_resources_of_a_core_are_known_deployments():
    make_application("helper")

    assert review_manifest(names("helper")).warnings == ()
    assert review_manifest(names("applications/public/helper")).warnings == ()


def test_a_deployment_of_another_kind_cannot_be_saved_where_answers_are_wanted():
    service = {"provider": "openai", "base_url": "https://a.example.com/v1"}
    make_deployment("vectors", kind="embedding", **service)
    make_deployment("pictures", kind="image", **service)
    tools = [
        {"type": "deployment", "deployment": {"deployment_id": name}}
        for name in ("vectors", "pictures")
    ]

    def problem(path: str, name: str, kind: str) -> Problem:
        text = f"the deployment {name!r} is of kind {kind!r}; choose one of kind 'chat'."
        return Problem(f"{path}deployment.deployment_id", text)

    wanted = {
        "memory": {"embedding_deployment_id": "pictures"},
        "documents": {"vision_deployment_id": "vectors"},
    }
    right = {"memory": {"embedding_deployment_id": "vectors"}}
    document = {**names("vectors"), "tool_sets": [{"tools": tools}]}
    assert set(wrong_kinds({**document, "features": right})) == set(wrong_kinds(document))
    assert set(wrong_kinds({**document, "features": wanted})) == {
        Problem(
            "features.memory.embedding_deployment_id",
            "the deployment 'pictures' is of kind 'image'; choose one of kind 'embedding'.",
        ),
        Problem(
            "features.documents.vision_deployment_id",
            "the deployment 'vectors' is of kind 'embedding'; choose one of kind 'chat'.",
        ),
        problem("orchestrator.", "vectors", "embedding"),
        problem("tool_sets[0].tools[0].", "vectors", "embedding"),
    }
    (refused,) = review_manifest(names("pictures")).errors
    assert refused == problem("orchestrator.", "pictures", "image")
    assert review_manifest(names("pictures"), is_ours=False).errors == ()


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


def test_references_that_lead_nowhere_are_warnings_that_name_near_ones():
    make_deployment("demo-model")
    document = manifest_with(
        orchestrator={
            "deployment": {"deployment_id": "demo-model"},
            "system_prompt": {"type": "predefined", "template": "gtp_prompt"},
        },
        tool_sets=[
            {"type": "predefined", "template_name": "weather", "override": {"name": 5}},
            {"type": "predefined", "template_name": "wether"},
        ],
    )

    review = review_manifest(document)

    assert review.errors == ()
    assert review.warnings == (
        Problem(
            "orchestrator.system_prompt.template",
            "There is no predefined prompt 'gtp_prompt'; did you mean 'gpt_prompt' or "
            "'gemini_prompt' or 'anthropic_prompt'?",
        ),
        Problem(
            "tool_sets[0]",
            "The predefined toolset 'weather' is not valid. "
            "name: expected a string or an object, found the integer 5",
        ),
        Problem(
            "tool_sets[1]",
            "There is no predefined toolset 'wether'; did you mean 'weather' or 'web_search'?",
        ),
    )


def test_the_service_model_of_tool_discovery_is_a_deployment_too(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    make_deployment("demo-model")
    document = manifest_with(
        orchestrator={
            "deployment": {"deployment_id": "demo-model"},
            "tool_discovery": {"enabled": True, "service_model": "demo"},
        }
    )

    (warning,) = review_manifest(document).warnings

    assert warning.path == "orchestrator.tool_discovery.service_model"
    assert "did you mean 'demo-model'" in warning.message


@proves("6.1")
def test_a_name_that_predefined_content_brings_a_second_time_is_an_error():
    make_deployment("demo-model")
    interpreter = {"type": "predefined-tool", "template_name": "py_interpreter"}
    toolset = {"type": "internal", "name": "inside", "tools": [interpreter]}
    document = manifest_with(
        tool_sets=[toolset, {**toolset, "tools": [{**interpreter, "enabled": False}]}, toolset]
    )

    name = "internal_code_execution_python_interpreter"
    assert review_manifest(document).errors == (
        Problem(
            "tool_sets[2].tools[0].open_ai_tool.function.name",
            f"the model would see a second tool named '{name}'; "
            "tool_sets[0].tools[0].open_ai_tool.function.name is the first; rename one of them",
        ),
    )


@pytest.mark.parametrize(
    ("deployment", "template", "told"),
    [
        ("claude-x", "gpt_prompt", "for 'claude-x', use 'anthropic_prompt'."),
        ("claude-x", "anthropic_prompt", ""),
        ("claude-x", "gemini_prompt", ""),
        ("llama", "gpt_prompt", ""),
    ],
)
def test_a_prompt_that_is_meant_for_other_models_is_worth_a_warning(
    settings, deployment, template, told
):
    settings.CONFIG_PROMPT_MAPPING = {"gpt_prompt": ("gpt-x",), "anthropic_prompt": ("claude-x",)}
    make_deployment(deployment)
    prompt = {"type": "predefined", "template": template}
    orchestrator = {"deployment": {"deployment_id": deployment}, "system_prompt": prompt}

    warnings = review_manifest(manifest_with(orchestrator=orchestrator)).warnings

    expected = f"The prompt '{template}' is meant for other models; {told}"
    assert [warning.message for warning in warnings] == ([expected] if told else [])


@pytest.mark.parametrize("host", ["xn--a", "xn--", "a..b", "\u200d.example", f"{'a' * 64}.example"])
def test_a_host_that_cannot_be_looked_up_is_told_at_its_field(host: str):
    info = {"protocol": "streamable_http", "url": f"https://{host}/mcp"}
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": info}

    review = review_manifest(manifest_with(tool_sets=[toolset]))

    assert review.errors == (
        Problem("tool_sets[0].mcp_server_info.url", "the host is not a valid name."),
    )


@pytest.mark.parametrize(
    "url", ["https://xn--mnchen-3ya.de/", "https://münchen.de", "http://[::1]:80/", "/x"]
)
def test_other_hosts_are_no_mistake(url: str):
    info = {"protocol": "streamable_http", "url": url}
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": info}

    assert review_manifest(manifest_with(tool_sets=[toolset])).errors == ()
