"""Models, applications and toolsets in the format of Core's listings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.dial_core.configuration import EVERY_KIND, Deployment, Kind, snake_case
from tests.dial_core.exchange import Exchange
from tests.dial_core.keys import Caller
from tests.dial_core.refusals import Refusal

EPOCH = 1672534800
"""The creation time of every entry of the configuration, in seconds."""
SWITCHES = (
    "tools",
    "seed",
    "url_attachments",
    "folder_attachments",
    "content_parts",
    "parallel_tool_calls",
    "skills",
    "assistant_attachments_in_request",
    "cache",
)
SHOWN = frozenset(
    (
        "display_name",
        "display_version",
        "icon_url",
        "description",
        "intro",
        "reference",
        "input_attachment_types",
        "max_input_attachments",
        "defaults",
        "description_keywords",
        "max_retry_attempts",
        "interfaces",
        "interface_configs",
        "catalog_properties",
        "catalog_schema_id",
    )
)
OF_MODELS = {"tokenizer_model", "limits", "pricing", "embedding_dimensions"}
OF_APPLICATIONS = {"viewer_url", "editor_url", "routes", "function", "external_services"}
OF_TOOLSETS = {"transport", "allowed_tools", "provider", "vendor_website"}
INTERFACES: dict[str, frozenset[Kind]] = {
    "chat": frozenset({"model", "application"}),
    "embedding": frozenset(),
    "mcp": frozenset({"toolset"}),
    "custom_ui": frozenset(),
    "all": frozenset({"model", "application", "toolset"}),
}


def features(deployment: Deployment) -> dict[str, Any]:
    configured = deployment.fields.get("features") or {}
    schema = deployment.schema or {}
    found: dict[str, Any] = {
        name: bool(configured.get(camel(name) + "Supported", False)) for name in SWITCHES
    }
    found["skills_supported"] = found.pop("skills")
    attachments = schema.get("dial:applicationTypeAssistantAttachmentsInRequestSupported")
    if attachments is not None:
        found["assistant_attachments_in_request"] = attachments
    for name in ("rate", "tokenize", "truncatePrompt", "configuration"):
        of_type = f"dial:applicationType{name[0].upper()}{name[1:]}Endpoint"
        found[snake_case(name)] = f"{name}Endpoint" in configured or of_type in schema
    return {
        **found,
        "system_prompt": configured.get("systemPromptSupported", True),
        "allow_resume": configured.get("allowResume", True),
        "accessible_by_per_request_key": configured.get("accessibleByPerRequestKey", True),
        "temperature": configured.get("temperatureSupported", True),
        "chat_completion": deployment.kind != "toolset",
        "mcp": deployment.kind == "toolset" or "mcp" in deployment.fields,
        "auto_caching": False,
        "responses_api": False,
        "max_tokens_supported": configured.get("maxTokensSupported", False),
        "max_completion_tokens_supported": configured.get("maxCompletionTokensSupported", False),
        "custom_temperature_supported": configured.get("customTemperatureSupported", True),
        "reasoning_efforts": configured.get("reasoningEfforts", []),
    }


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


def described(deployment: Deployment, *extra: str) -> dict[str, Any]:
    """Return the fields that every listed entry has, and the named ones, as far as they are set."""
    fields = {snake_case(name): value for name, value in deployment.fields.items()}
    shown = {name: value for name, value in fields.items() if name in {*SHOWN, *extra}}
    author = deployment.fields.get("author", "organization-owner")
    return {
        "id": deployment.id,
        deployment.kind: deployment.id,
        "object": deployment.kind,
        "display_name": deployment.id,
        "owner": author,
        "status": "succeeded",
        "created_at": deployment.fields.get("createdAt", EPOCH),
        "updated_at": deployment.fields.get("updatedAt", EPOCH),
        "reference": deployment.id,
        "features": features(deployment),
        "defaults": {},
        "description_keywords": [],
        **limited(shown),
    }


def limited(shown: dict[str, Any]) -> dict[str, Any]:
    if not shown.get("input_attachment_types"):
        shown["max_input_attachments"] = 0
    return shown


def model(deployment: Deployment) -> dict[str, Any]:
    is_chat = deployment.fields.get("type", "chat") == "chat"
    return {
        **described(deployment, *OF_MODELS),
        "lifecycle_status": "generally-available",
        "capabilities": {
            "scale_types": ["standard"],
            "completion": False,
            "chat_completion": is_chat,
            "embeddings": not is_chat,
            "fine_tune": False,
            "inference": False,
        },
    }


def application(caller: Caller, deployment: Deployment) -> dict[str, Any]:
    """Return all properties to the application itself, and those of the kind `client` to others."""
    found = described(deployment, *OF_APPLICATIONS)
    if deployment.schema is not None:
        is_itself = caller.key is not None and caller.key.deployment == deployment.id
        kinds = EVERY_KIND if is_itself else frozenset({"client"})
        found["application_type_schema_id"] = deployment.schema["$id"]
        found["application_properties"] = deployment.properties_for(kinds)
        for name in ("viewer", "editor"):
            url = deployment.schema.get(f"dial:applicationType{name.title()}Url")
            if url is not None:
                found[f"{name}_url"] = url
    return found


def toolset(deployment: Deployment) -> dict[str, Any]:
    return {
        "transport": "HTTP",
        "allowed_tools": [],
        **described(deployment, *OF_TOOLSETS),
    }


def listed(caller: Caller, deployment: Deployment) -> dict[str, Any]:
    if deployment.kind == "model":
        return model(deployment)
    if deployment.kind == "application":
        return application(caller, deployment)
    return toolset(deployment)


def visible(exchange: Exchange, kinds: frozenset[Kind]) -> list[dict[str, Any]]:
    core, caller = exchange.core, exchange.caller
    return [listed(caller, found) for found in core.visible(caller) if found.kind in kinds]


def every(kind: Kind) -> Callable[[Exchange], Any]:
    async def answer(exchange: Exchange) -> Response:
        found = visible(exchange, frozenset({kind}))
        return JSONResponse({"data": found, "object": "list"})

    return answer


def one(kind: Kind) -> Callable[..., Any]:
    async def answer(exchange: Exchange, id: str) -> Response:
        caller = exchange.caller
        deployment = exchange.core.accessible(caller, id, kind)
        found = listed(caller, deployment)
        if kind == "toolset":
            found["auth_settings"] = exchange.core.sign_ins.status(caller, deployment)
        return JSONResponse(found)

    return answer


async def deployments(exchange: Exchange) -> Response:
    names = exchange.request.query_params.get("interface_type", "all").split(",")
    if not set(names) <= INTERFACES.keys():
        raise Refusal(400, f"Unknown interface type: {','.join(names)}")
    kinds = frozenset[Kind]().union(*(INTERFACES[name] for name in names))
    return JSONResponse(visible(exchange, kinds))


async def deployment_names(exchange: Exchange) -> Response:
    names = exchange.request.query_params.get("type", "model,application,toolset").split(",")
    found = exchange.core.visible(exchange.caller)
    return JSONResponse([{"id": one.id, "object": one.kind} for one in found if one.kind in names])


async def limits(exchange: Exchange, id: str) -> Response:
    exchange.core.accessible(exchange.caller, id)
    names = [f"{span}TokenStats" for span in ("minute", "day", "week", "month")]
    names += ["hourRequestStats", "dayRequestStats"]
    return JSONResponse({name: {"total": 2**63 - 1, "used": 0} for name in names})
