"""One application with a tool of every kind, and the services that it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.capabilities.deployment.scripts import simple, team
from tests.capabilities.manifests import PROMPT, parameter

MCP_SERVER = str(Path(__file__).parent / "mcp_server.py")
MODEL, OUTER, INNER = "scripted", "outer", "inner"
PYTHON = "internal_code_execution_python_interpreter"
TIMEOUT_SECONDS = 60.0


def rest_tool(url: str, name: str, *keys: str) -> dict[str, Any]:
    properties = {key: parameter("query", key) for key in keys}
    function = {
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": properties, "required": list(keys)},
    }
    return {
        "rest_api_method_info": {"method_url": f"{url}/rest/{name}", "method_type": "get"},
        "open_ai_tool": {"function": function},
    }


def rest_tools(url: str) -> dict[str, Any]:
    tools = [
        rest_tool(url, "answer", "mark"),
        rest_tool(url, "error"),
        rest_tool(url, "drop"),
        rest_tool(url, "flood"),
        rest_tool(url, "stall", "name"),
    ]
    return {
        "type": "rest-api",
        "name": "shop",
        "tools": tools,
        "response_as_attachment": {"enabled": False},
    }


def guarded_tools(url: str) -> dict[str, Any]:
    """Return tools whose token request never completes."""
    authorization = {
        "type": "client_id_secret",
        "client_id": "c",
        "client_secret": "s",
        "token_url": f"{url}/hold?name=token",
    }
    tools = [rest_tool(url, "secret")]
    return {"type": "rest-api", "name": "guarded", "authorization": authorization, "tools": tools}


def mcp_tools(name: str, **info: str) -> dict[str, Any]:
    return {"type": "mcp", "name": name, "mcp_server_info": info}


def interpreter_tools() -> dict[str, Any]:
    path = Path(settings.BASE_DIR) / "predefined" / "tool" / "py_interpreter.json"
    return {"type": "internal", "name": "own", "tools": [json.loads(path.read_text())]}


def document(
    *tool_sets: Mapping[str, Any], seconds: float = TIMEOUT_SECONDS, **orchestrator: Any
) -> dict[str, Any]:
    return {
        "orchestrator": {
            "deployment": {"deployment_id": MODEL},
            "system_prompt": PROMPT,
            **orchestrator,
        },
        "contexts": [],
        "tool_sets": list(tool_sets),
        "tool_defaults": {"timeout_seconds": seconds},
        "features": {"file_loading": {"size_limit": 1_000_000}},
    }


def deployments() -> dict[str, Any]:
    return team(simple(MODEL), simple(INNER))


def program(mark: str, *calls: tuple[str, Mapping[str, Any]], **rest: Any) -> str:
    """Return the model's program as the text of a question."""
    return json.dumps({"mark": mark, "call": calls, **rest})
