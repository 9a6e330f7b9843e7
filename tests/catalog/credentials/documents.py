"""Manifests with a credential, and its expected replacement."""

from __future__ import annotations

from typing import Any

from apps.catalog.models import empty_manifest

MARK = "sk-marked-0123456789"
OTHER = "sk-other-0123456789"
SERVERS = ["https://track.example.org"]
PATH = "tool_sets[0].authorization.key"


def tracking(key: Any = MARK, url: str = "https://track.example.org/v2") -> dict[str, Any]:
    """Return a toolset with a credential, and the server that it is sent to."""
    function = {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {}},
    }
    return {
        "type": "rest-api",
        "name": "tracking",
        "authorization": {"type": "api_key", "name": "X-Key", "location": "header", "key": key},
        "tools": [
            {
                "type": "restapi-tool",
                "rest_api_method_info": {"method_url": url, "method_type": "get"},
                "open_ai_tool": {"function": function},
            }
        ],
    }


def manifest(*toolsets: Any) -> dict[str, Any]:
    return {**empty_manifest(), "tool_sets": list(toolsets)}
