from __future__ import annotations

from typing import Any

import pytest

from apps.workspace.local.models import Deployment, McpServer
from tests.catalog.rows import make_application, make_deployment

pytestmark = pytest.mark.django_db

URL = "/api/deployments/"
MANIFEST: dict[str, Any] = {"contexts": [], "orchestrator": {"deployment": {"name": "gpt"}}}
SECRET = "sk-very-secret"


def test_a_secret_goes_in_and_never_comes_out(api):
    fields = {
        "deployment_id": "gpt-4.1",
        "display_name": "GPT",
        "base_url": "https://api.example.com/v1",
        "api_key": SECRET,
    }

    created = api.post(URL, fields)
    read = api.get(f"{URL}gpt-4.1/")
    kept = api.patch(f"{URL}gpt-4.1/", {"display_name": "Other"})

    assert [created.status_code, read.status_code, kept.status_code] == [201, 200, 200]
    answers = [created, read, kept, api.get(URL)]
    assert all(SECRET not in answer.text for answer in answers)
    assert read.data["has_api_key"] is True
    assert Deployment.objects.get().api_key == SECRET


def test_an_empty_secret_removes_it(api):
    make_deployment("demo", api_key=SECRET)

    answer = api.patch(f"{URL}demo/", {"api_key": ""})

    assert (answer.data["has_api_key"], Deployment.objects.get().api_key) == (False, "")


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"api_key_env": "SECRET_KEY"}, "api_key_env"),
    ({"base_url": ""}, "base_url"),
    ({"features": []}, "features"),
    ({"input_attachment_types": {}}, "input_attachment_types"),
    ({"fallbacks": "gpt"}, "fallbacks"),
    ({"fallbacks": ["gone"]}, "fallbacks"),
    ({"deployment_id": "a b"}, "deployment_id"),
    ({"context_window": -1}, "context_window"),
    ({"max_output_tokens": 0}, "max_output_tokens"),
    ({"vision": "perhaps"}, "vision"),
]
"""Request bodies, each with the path of its error."""


def test_mistakes_have_their_paths(api):
    valid = {
        "deployment_id": "gpt",
        "display_name": "GPT",
        "base_url": "https://api.example.com/v1",
    }

    found = [
        (sent, [one["path"] for one in api.post(URL, {**valid, **sent}).data["errors"]])
        for sent, _ in MISTAKES
    ]

    assert found == [(sent, [path]) for sent, path in MISTAKES]
    assert Deployment.objects.count() == 0


def test_a_stored_secret_does_not_move_to_another_server(api):
    make_deployment("gpt", base_url="https://api.example.com/v1", api_key=SECRET)

    moved = api.patch(f"{URL}gpt/", {"base_url": "https://elsewhere.example.com/v1"})
    within = api.patch(f"{URL}gpt/", {"base_url": "https://api.example.com/v2"})
    typed = api.patch(f"{URL}gpt/", {"base_url": "https://elsewhere.example.com", "api_key": "x"})

    assert [moved.status_code, within.status_code, typed.status_code] == [400, 200, 200]
    assert [found["path"] for found in moved.data["errors"]] == ["api_key"]


def test_fallbacks_are_read_and_written_in_their_order(api):
    for name in ("a", "b", "c"):
        make_deployment(name)

    api.patch(f"{URL}a/", {"fallbacks": ["c", "b"]}, format="json")
    refused = api.patch(f"{URL}c/", {"fallbacks": ["a"]}, format="json")

    assert api.get(f"{URL}a/").data["fallbacks"] == ["c", "b"]
    assert refused.status_code == 400
    assert "'a' is circular: c → a → c. Remove one of these fallbacks." in str(refused.data)


def test_what_a_model_can_do_is_said_or_left_open(api):
    row = make_deployment("gpt", vision=True)

    answer = api.patch(f"{URL}gpt/", {"vision": None, "tools": False}, format="json")

    row.refresh_from_db()
    assert answer.status_code == 200
    assert (answer.data["vision"], answer.data["tools"], answer.data["text_tools"]) == (
        None,
        False,
        True,
    )
    assert (row.vision, row.tools) == (None, False)


def test_a_deployment_that_applications_use_is_not_deleted(api):
    make_deployment("gpt")
    make_deployment("spare")
    make_application("travel", manifest=MANIFEST)

    refused, deleted = (api.delete(f"{URL}{name}/") for name in ("gpt", "spare"))

    assert (refused.status_code, refused.data["detail"]) == (
        409,
        "The deployment is used by application Travel. Choose a different deployment there first.",
    )
    assert deleted.status_code == 204
    assert Deployment.objects.get().deployment_id == "gpt"


def test_an_mcp_server_that_applications_use_is_not_deleted(api):
    for name in ("desk", "spare"):
        McpServer.objects.create(name=name, command="python")
    server = {"protocol": "stdio", "server": "desk"}
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": server}
    make_application("travel", manifest={**MANIFEST, "tool_sets": [toolset]})

    refused, deleted = (api.delete(f"/api/mcp-servers/{name}/") for name in ("desk", "spare"))

    assert (refused.status_code, refused.data["detail"]) == (
        409,
        "The server is used by application Travel. Remove it there first.",
    )
    assert (deleted.status_code, McpServer.objects.get().name) == (204, "desk")
