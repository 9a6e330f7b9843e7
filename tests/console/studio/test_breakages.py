"""Errors in an application are shown at their location, with what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import Application
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.studio.asking import page_data, send, written
from tests.sites.serving import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

TOOL = "tool_sets[0].tools[0]"
FUNCTION = "open_ai_tool.function"
SKILL = "skills/tone/SKILL.md"
PRIVATE = (
    "The host '10.1.2.3' is on a private network. If the server may contact it, add 10.1.2.3 to the "
    "setting PRIVATE_NETWORK_ALLOWLIST."
)


@pytest.fixture
def row() -> Application:
    make_deployment()
    return make_application()


def rest(*tools: Any, **fields: Any) -> dict[str, Any]:
    base = {"type": "rest-api", "name": "shop", "base_url": "http://127.0.0.1:9"}
    return manifest_with(tool_sets=[{**base, "tools": [*tools], **fields}])


def tool(url: str = "/items", kind: str = "string") -> dict[str, Any]:
    asked = {"type": kind, "description": "What.", "parameter_info": {"type": "query", "key": "q"}}
    parameters = {"type": "object", "properties": {"q": asked}}
    function = {"name": "find", "description": "Finds.", "parameters": parameters}
    return {
        "type": "restapi-tool",
        "open_ai_tool": {"type": "function", "function": function},
        "rest_api_method_info": {"method_url": url, "method_type": "get"},
    }


def server(url: str) -> dict[str, Any]:
    info = {"url": url, "protocol": "streamable_http"}
    return manifest_with(tool_sets=[{"type": "mcp", "name": "desk", "mcp_server_info": info}])


def asking(text: str) -> dict[str, Any]:
    return manifest_with(conversation_starters={"starters": [{"title": "Ask", "text": text}]})


def calling(application: str) -> dict[str, Any]:
    tools = [{"type": "dial-deployment-simple", "deployment_id": application}]
    return manifest_with(tool_sets=[{"type": "dial-deployment", "name": "others", "tools": tools}])


def skill(text: str) -> dict[str, Any]:
    return {"skills": {"tone": {"SKILL.md": text}}}


MISTAKES = {
    ("warning", "orchestrator.deployment.deployment_id"): (
        manifest_with(orchestrator={"deployment": {"deployment_id": "gpt-9"}}),
        "there is no deployment 'gpt-9' in this installation; add it, or choose another.",
    ),
    ("warning", "tool_sets[0].mcp_server_info.url"): (server("http://10.1.2.3/mcp"), PRIVATE),
    ("warning", f"{TOOL}.rest_api_method_info.method_url"): (
        rest(tool("/items?api_key=S3CR3T")),
        "many servers log the query of a URL; store the credential "
        "'api_key' as a secret in `authorization`.",
    ),
    ("error", "tool_sets[0].authorization.token"): (
        rest(tool(), authorization={"type": "bearer", "token": {"$secret": "s"}}),
        "the secret 's' does not exist.",
    ),
    ("error", f"tool_sets[0].tools[1].{FUNCTION}.name"): (
        rest(tool(), tool()),
        "the model would see a second tool named 'shop_find'; "
        f"{TOOL}.{FUNCTION}.name is the first; rename one of them",
    ),
    ("error", f"{TOOL}.{FUNCTION}.parameters.properties.q.type"): (
        rest(tool(kind="strin")),
        'expected "object", "array", "string", "number", "integer", "boolean" or null, found '
        'the string "strin"',
    ),
    ("warning", "conversation_starters.starters[0].text"): (
        asking("x" * 100_001),
        "has 100,001 characters; the limit is 100,000 per question.",
    ),
    ("error", f"{TOOL}.deployment_id"): (
        calling("travel"),
        "an application cannot call itself: travel → travel.",
    ),
}
"""Manifests by the severity and the location of their only finding, with its text."""


BEYOND = [
    (
        skill("No front matter"),
        SKILL,
        "front matter: is missing; begin the text with a line '---', then 'name: …' and "
        "'description: …', then another line '---'",
    ),
    (
        skill("---\nname: tone\n---\n\nBe kind."),
        SKILL,
        "description: is missing; write 'description: …' in the front matter",
    ),
    (
        {"icon": "AB"},
        "(icon)",
        "Enter one emoji or a color from colour:0 to colour:11, or upload an image.",
    ),
]
"""Errors outside of the manifest, with their location and text."""


def findings(client: Client, row: Application, **changes: Any) -> list[tuple[str, str, str]]:
    draft = written(page_data(client, row), **changes)
    found = send(client, row, "check", draft).json()["findings"]
    return [(one["severity"], one["path"], one["message"]) for one in found]


def test_a_mistake_of_the_draft_is_told_at_its_place(admin_client, row, subtests):
    for place, (document, text) in MISTAKES.items():
        with subtests.test(text):
            assert findings(admin_client, row, manifest=document) == [(*place, text)]
    for changes, path, text in BEYOND:
        with subtests.test(text):
            assert findings(admin_client, row, **changes) == [("error", path, text)]


def service(*parameters: Any) -> str:
    operation = {"operationId": "find", "parameters": [*parameters]}
    info = {"title": "Shop"}
    return json.dumps({"openapi": "3.1.0", "info": info, "paths": {"/a": {"get": operation}}})


def message(client: Client, row: Application, page: str, **body: Any) -> str:
    answer = send(client, row, f"tools/{page}", body)
    assert answer.status_code == 422
    return str(answer.json()["message"])


def test_a_source_that_gives_no_tools_says_why_and_what_to_do(admin_client, row):
    down = {"url": f"http://127.0.0.1:{free_port()}/mcp"}
    forbidden = {"url": "http://10.1.2.3/mcp"}

    assert message(admin_client, row, "mcp", server=down) == (
        f"Toolset {down['url']}: the server cannot be reached. Check the URL and whether the "
        "server is running."
    )
    assert message(admin_client, row, "mcp", server=forbidden).endswith(PRIVATE)
    assert message(admin_client, row, "openapi", url="api.example.com/openapi.json") == (
        "The URL has no scheme: write https://api.example.com/openapi.json"
    )
    assert message(admin_client, row, "openapi", text="<html>") == (
        "This is a web page, not an OpenAPI document. Enter the URL of its JSON or YAML."
    )
    assert message(admin_client, row, "openapi", text='{"openapi"') == (
        "This is not valid JSON: Expecting ':' delimiter, line 1, column 11."
    )
    dead = service({"$ref": "#/components/parameters/gone"})
    [operation] = send(admin_client, row, "tools/openapi", {"text": dead}).json()["operations"]
    assert (operation["tool"], operation["problem"]) == (
        None,
        "paths./a.get.parameters[0]: the document contains no '#/components/parameters/gone'.",
    )


def test_skills_and_an_icon_that_two_have_changed_meanwhile_are_both_kept(admin_client, row):
    seen = page_data(admin_client, row)
    text = "---\nname: tone\ndescription: How we write.\n---\n\nBe kind.\n"
    base = {"version": seen["version"], "base": written(seen)}

    first = send(admin_client, row, "save", written(seen, icon="🦊") | base)
    second = send(admin_client, row, "save", written(seen, **skill(text)) | base)

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json()["message"] == (
        "Saved. You saved this draft just now, in another tab or program. Both edits were merged."
    )
    assert (second.json()["icon"], second.json()["skills"]) == ("🦊", skill(text)["skills"])
