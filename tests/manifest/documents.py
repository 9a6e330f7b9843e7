"""Documents to test with: the examples, and small ones with one thing of interest."""

import json
from pathlib import Path
from typing import Any

from apps.manifest.credentials import credential_places
from apps.manifest.manifest import Manifest
from apps.manifest.places import replaced, value_at

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = sorted(path.stem for path in (DATA / "manifests").glob("*.json"))


def example(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / "manifests" / f"{name}.json").read_text())
    return document


def manifest(**members: Any) -> dict[str, Any]:
    """The smallest manifest, with the given members in it."""
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
    """What a manifest dumps, with the credentials of the document that it was read from."""
    dumped = manifest.model_dump(mode="json", exclude_unset=True)
    places = [place.keys for place in credential_places(dumped) if place.kind == "hidden"]
    return replaced(dumped, {keys: value_at(document, keys) for keys in places})
