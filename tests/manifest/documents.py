"""Test documents: the examples, and small ones with one feature each."""

import json
from pathlib import Path
from typing import Any

from apps.manifest.credentials import find_credentials
from apps.manifest.json_places import replace_values, value_at
from apps.manifest.manifest import Manifest

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = sorted(path.stem for path in (DATA / "manifests").glob("*.json"))


def example(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / "manifests" / f"{name}.json").read_text())
    return document


def manifest(**members: Any) -> dict[str, Any]:
    """Return the smallest manifest with the given members added."""
    return {**example("smallest"), **members}


def orchestrator(**members: Any) -> dict[str, Any]:
    return {"deployment": {"deployment_id": "harbour-chat"}, **members}


def function(name: str = "act", **parameters: Any) -> dict[str, Any]:
    return {
        "function": {
            "name": name,
            "description": "Do it.",
            "parameters": {"type": "object", "properties": parameters},
        }
    }


def rest_tool(name: str = "act", parameters: dict[str, Any] | None = None, **members: Any) -> Any:
    return {
        "open_ai_tool": function(name, **(parameters or {})),
        "rest_api_method_info": {"method_url": "https://api.example.org/act", "method_type": "get"},
        **members,
    }


def rest_tools(*tools: Any, **members: Any) -> dict[str, Any]:
    return {"type": "rest-api", "name": "api", "tools": list(tools), **members}


def internal_tools(*names: str, **members: Any) -> dict[str, Any]:
    tools = [{"open_ai_tool": function(name)} for name in names]
    return {"type": "internal", "name": "inside", "tools": tools, **members}


def with_credentials(manifest: Manifest, document: Any) -> Any:
    """Return the dump of a manifest with the credentials of its document."""
    dumped = manifest.model_dump(mode="json", exclude_unset=True)
    places = [place.keys for place in find_credentials(dumped) if place.kind == "hidden"]
    return replace_values(dumped, {keys: value_at(document, keys) for keys in places})
