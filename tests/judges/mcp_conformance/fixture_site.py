"""A site with the applications that the conformance suite of MCP calls by name.

Applications answer with a scripted model. Features that applications lack (prompts with images,
resources with another scheme) are added around the server.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import django
import mcp_types as types
import uvicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
django.setup()

# The imports below need Django's settings.
from channels.routing import URLRouter  # noqa: E402
from django.urls import re_path  # noqa: E402

from apps.agent.events import AttachmentAdded, TextDelta, Usage  # noqa: E402
from apps.agent.messages import Attachment  # noqa: E402
from apps.agent.model import Delta, Finish, ModelRequest, StagePart, ToolCallDelta  # noqa: E402
from apps.errors import ModelFailed  # noqa: E402
from apps.gateway.routing import health_urlpatterns  # noqa: E402
from apps.mcp_server.consumers import McpConsumer  # noqa: E402
from apps.mcp_server.interactions import INPUT  # noqa: E402
from apps.mcp_server.interactions import TEXT as TEXT_FIELD  # noqa: E402
from apps.mcp_server.routing import MCP  # noqa: E402
from apps.mcp_server.server import make_server  # noqa: E402
from tests.catalog.rows import manifest_with, store_application  # noqa: E402
from tests.gateway.scripts import ScriptedWorkspace, unrecorded  # noqa: E402

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
NAME_QUESTION = {"question": "What is your name?", "input_type": "text", "allow_freeform": True}
CALL = "fixture-"
STARTERS = {"test_simple_prompt": "This is a simple prompt for testing."}

IMAGE = AttachmentAdded(Attachment("image/png", "dot", PNG))
SOUND = AttachmentAdded(Attachment("audio/wav", "tick", WAV))
PAGE = AttachmentAdded(Attachment("text/plain", "page", "This is an embedded resource content."))
DATA = AttachmentAdded(Attachment("application/json", "data", '{"test": "data", "value": 123}'))

ANSWERS: Mapping[str, Sequence[Delta]] = {
    "test_simple_text": [TextDelta("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [SOUND],
    "test_embedded_resource": [PAGE],
    "test_multiple_content_types": [TextDelta("Multiple content types test:"), IMAGE, DATA],
    "test_tool_with_progress": [
        *(StagePart(number, f"Step {number}", failed=False) for number in range(3)),
        TextDelta("Done."),
    ],
    "test_logging_tool": [TextDelta("Nothing is logged.")],
    "test_streaming_elicitation": [TextDelta("Nothing is asked.")],
    "test_tool_with_logging": [TextDelta("Tool with logging executed successfully")],
}
QUESTIONS = {
    "test_input_required_result_elicitation": 1,
    "test_input_required_result_request_state": 1,
    "test_input_required_result_tampered_state": 1,
    "test_input_required_result_capabilities": 1,
    "test_input_required_result_multi_round": 2,
}
"""The number of questions that each application asks before it answers."""
KEYS = {"test_input_required_result_elicitation": "user_name"}
"""The key of the input request, if the suite expects a certain one."""


class NamedModel:
    """Answers for the application of that name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        if self.name == "test_error_handling":
            raise ModelFailed("This tool intentionally returns an error for testing")
        asked = (str(message.tool_call_id) for message in request.messages)
        results = sum(call_id.startswith(CALL) for call_id in asked)  # not those of skills
        asker = next((tool.name for tool in request.tools if "ask" in tool.name), "")
        if results < QUESTIONS.get(self.name, 0) and asker:
            arguments = json.dumps(NAME_QUESTION)
            yield [ToolCallDelta(0, f"{CALL}{results}", asker, arguments), Finish("tool_calls")]
            return
        yield [*ANSWERS.get(self.name, [TextDelta("All inputs received.")])]
        yield [Usage(3, 4), Finish("stop")]


def open_named(caller: Any, application: Any = None) -> Any:
    name = "" if application is None else application.slug
    return ScriptedWorkspace(NamedModel(name))


# --- What no application does -------------------------------------------------------------------

TEXT = "This is the content of the static text resource."


async def with_fixtures(context: Any, call_next: Any) -> Any:  # noqa: C901 - a case for each name
    """Wrap the server in a middleware with the arguments, resources and prompts of the suite."""
    params = dict(context.params or {})
    match context.method, str(params.get("name") or params.get("uri") or ""):
        case "tools/call", _:
            params["arguments"] = {"message": json.dumps(params.get("arguments") or {})}
            wanted = KEYS.get(str(params.get("name")), INPUT)
            if wanted in (given := params.get("inputResponses") or {}):
                params["inputResponses"] = {**given, INPUT: fitted(given[wanted])}
            result = await call_next(replace(context, params=params))
            if wanted != INPUT and (asked := result.get("inputRequests")):
                result = {**result, "inputRequests": {wanted: asked[INPUT]}}
            return result
        case "resources/read", "test://static-text":
            contents = types.TextResourceContents(
                uri="test://static-text", mime_type="text/plain", text=TEXT
            )
            return written(types.ReadResourceResult(contents=[contents]))
        case "resources/read", "test://static-binary":
            blob = types.BlobResourceContents(
                uri="test://static-binary", mime_type="image/png", blob=PNG
            )
            return written(types.ReadResourceResult(contents=[blob]))
        case "resources/read", uri if uri.startswith("test://template/"):
            data = json.dumps({"id": uri.split("/")[3], "templateTest": True})
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=data)
            return written(types.ReadResourceResult(contents=[contents]))
        case "prompts/get", "test_simple_prompt":
            params["name"] = "test_simple_text.test_simple_prompt"
            return await call_next(replace(context, params=params))
        case "prompts/get", "test_prompt_with_arguments":
            given = params.get("arguments") or {}
            text = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
            return prompt(types.TextContent(text=text))
        case "prompts/get", "test_prompt_with_image":
            return prompt(types.ImageContent(data=PNG, mime_type="image/png"))
        case "prompts/get", "test_prompt_with_embedded_resource":
            uri = str((params.get("arguments") or {}).get("resourceUri"))
            page = types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXT)
            return prompt(types.EmbeddedResource(resource=page))
        case _:
            return await call_next(context)


def fitted(response: Any) -> Any:
    """Return an accepted response with the field of our form. The suite always sends the same
    content, whatever the form is.
    """
    content = response.get("content") if isinstance(response, dict) else None
    if not content or response.get("action") != "accept":
        return response
    return {**response, "content": {TEXT_FIELD: str(next(iter(content.values())))}}


def prompt(content: types.ContentBlock) -> dict[str, Any]:
    return written(
        types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])
    )


def written(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return found


# --- The site -----------------------------------------------------------------------------------


def add_applications() -> None:
    for name in (*ANSWERS, *QUESTIONS, "test_error_handling"):
        features: dict[str, Any] = {"timestamp": None}
        if name in QUESTIONS:
            features["questions"] = {}
        manifest = manifest_with(
            orchestrator={"deployment": {"deployment_id": "scripted"}},
            features=features,
            conversation_starters={
                "starters": [{"title": title, "text": text} for title, text in STARTERS.items()]
            }
            if name == "test_simple_text"
            else None,
        )
        store_application(slug=name, title=name, is_public=True, is_shared=True, manifest=manifest)


def make_site() -> Any:
    server: Any = make_server()
    server.middleware.append(with_fixtures)
    door = McpConsumer.as_asgi(server=server, open_workspace=open_named, recorded=unrecorded)
    return URLRouter([re_path(rf"^{MCP}", door), *health_urlpatterns])


def main(arguments: Sequence[str]) -> None:
    add_applications()
    uvicorn.run(
        make_site(),
        host="127.0.0.1",
        port=int(arguments[0]),
        log_level="warning",
        timeout_keep_alive=75,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
