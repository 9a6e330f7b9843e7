"""Fetches the descriptions of deployments and toolsets: features, limits, defaults, names and MCP
endpoints.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.conf import settings

from apps.errors import DeploymentNotFound, ServiceFailed, Unsupported
from apps.manifest.names import localize_text
from apps.process_state import AgedCache
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import path_segment
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.headers import ascii_headers, forwarded_headers
from apps.workspace.dial.kept_applications import made_for
from apps.workspace.dial.wire import mapping
from apps.workspace.known_models import known_model
from apps.workspace.model_capabilities import (
    UNKNOWN,
    ModelCapabilities,
    read_features,
    read_types,
    token_limit,
)
from apps.workspace.port import DeploymentInfo, McpEndpoint
from apps.workspace.services.static_tools import listed_tools

logger = logging.getLogger(__name__)

APPLICATION = "applications/"
TECHNICAL = frozenset({"features", "defaults", "limits", "input_attachment_types"})
READ = TECHNICAL | {"display_name", "description"}
"""Only these fields are cached, because Core also sends an application its manifest, including
secrets.
"""

_facts = AgedCache[tuple[str, str, str], DeploymentInfo]()
"""The cached technical facts. The key is Core's URL, the application of the caller's API key, and
the deployment's ID.
"""


@dataclass(frozen=True, slots=True)
class Metadata:
    written: Mapping[str, Any]
    is_application: bool = False

    @property
    def features(self) -> Mapping[str, Any]:
        found = self.written.get("features")
        return found if isinstance(found, Mapping) else {}


async def find_info(calls: Calls, deployment_id: str) -> DeploymentInfo:
    """Return the description of a model or an application for this caller.

    Raises `DeploymentNotFound` if the caller cannot use the deployment, and `ServiceFailed` if Core
    fails.
    """
    metadata = await find_metadata(calls, deployment_id)
    name = path_segment(deployment_id)
    schema = await calls.once(("schema", name), partial(fetch_schema, calls, name, metadata))
    return info_of(deployment_id, metadata, calls.caller.client.locale, schema)


async def find_facts(calls: Calls, deployment_id: str) -> DeploymentInfo:
    """Return the technical facts about a deployment. All callers of one application share them.

    The facts include no texts and no configuration schema. They do not prove that this caller may
    use the deployment. Raises `DeploymentNotFound` if it does not exist, and `ServiceFailed` if
    Core fails.
    """
    core, application = calls.core, made_for(calls.caller)
    key = core.url, application, deployment_id
    facts = _facts.get(key, core.metadata_seconds) if application else None
    if facts is None:
        asked_at = time.monotonic()
        metadata = await find_metadata(calls, deployment_id)
        written = {name: value for name, value in metadata.written.items() if name in TECHNICAL}
        facts = info_of(deployment_id, replace(metadata, written=written), "en")
        if application and core.metadata_seconds:
            _facts.put(key, facts, asked_at)
    return facts


async def find_metadata(calls: Calls, deployment_id: str) -> Metadata:
    """Return Core's metadata for a deployment. Raises `DeploymentNotFound` if the caller cannot use
    the deployment, and `ServiceFailed` if Core fails.
    """
    name = path_segment(deployment_id)
    found = await calls.once(("deployment", name), partial(fetch_metadata, calls, name))
    if found is None:
        raise DeploymentNotFound(deployment_id)
    return found


async def fetch_metadata(calls: Calls, name: str) -> Metadata | None:
    # A name without a folder is a model or an application declared in Core's settings.
    kinds = ("applications",) if name.startswith(APPLICATION) else ("models", "applications")
    for kind in kinds:
        written = await get_entity(calls, kind, name)
        if written is not None:
            kept = {key: value for key, value in written.items() if key in READ}
            return Metadata(kept, is_application=kind == "applications")
    return None


async def get_entity(calls: Calls, kind: str, name: str) -> Mapping[str, Any] | None:
    """Return Core's document for a deployment or toolset, or None if it does not exist. Raises
    `ServiceFailed` if a call to Core fails.
    """
    try:
        return mapping(await calls.get_json(f"/openai/{kind}/{name}"))
    except CoreRefused as refusal:
        if refusal.status == 404:
            return None
        raise


async def fetch_schema(calls: Calls, name: str, metadata: Metadata) -> Mapping[str, Any]:
    """Return the schema of the deployment's configuration, or {} if Core has none. A deployment
    without a schema is called without a configuration.
    """
    if metadata.features.get("configuration") is not True:
        return {}
    try:
        schema = await calls.get_json(f"/v1/deployments/{name}/configuration")
    except ServiceFailed as failure:
        logger.warning("Failed to fetch the configuration of %s: %s", name, failure)
        return {}
    return schema if isinstance(schema, Mapping) else {}


def info_of(
    deployment_id: str, metadata: Metadata, locale: str, schema: Mapping[str, Any] | None = None
) -> DeploymentInfo:
    """Convert Core's metadata to a description. A missing or malformed field gets its default
    value.
    """
    written = metadata.written
    listed = written.get("defaults")
    defaults: Mapping[str, Any] = listed if isinstance(listed, Mapping) else {}
    can = capabilities_of(deployment_id, metadata)
    return DeploymentInfo(
        id=deployment_id,
        display_name=localized_text(written.get("display_name"), locale) or deployment_id,
        description=localized_text(written.get("description"), locale),
        features={name: flag for name, flag in metadata.features.items() if isinstance(flag, bool)},
        reasoning_efforts=texts_of(metadata.features.get("reasoning_efforts")),
        input_attachment_types=texts_of(written.get("input_attachment_types")),
        context_window=can.context_window,
        defaults=defaults,
        static_tools=listed_tools(defaults, deployment_id),
        configuration_schema=schema or {},
        is_application=metadata.is_application,
        can=can,
    )


def capabilities_of(deployment_id: str, metadata: Metadata) -> ModelCapabilities:
    """Return the capabilities that Core lists, supplemented with capabilities that are known from
    the model's name. The capabilities of an application are unknown.

    Core reports an unset flag as false, so false means unknown. If the operator has confirmed
    Core's flags, a false `tools` flag means that the model does not support tools.
    """
    limits = ModelCapabilities(
        context_window=context_window(metadata.written.get("limits")),
        max_output_tokens=most_output(metadata.written.get("limits")),
    )
    if metadata.is_application:
        return limits
    flags = {name: flag for name, flag in metadata.features.items() if flag}
    implied = read_features(flags).over(
        read_types(texts_of(metadata.written.get("input_attachment_types")))
    )
    known = limits.over(implied).over(known_model(deployment_id))
    if settings.DIAL_TOOLS_FLAG_IS_SET and metadata.features.get("tools") is False:
        known = known.over(ModelCapabilities(tools=False))
    return known


def reported_capabilities(calls: Calls, deployment_id: str) -> ModelCapabilities:
    """Return the deployment's capabilities, as far as they are known without a call to Core."""
    key = calls.core.url, made_for(calls.caller), deployment_id
    facts = _facts.get(key, calls.core.metadata_seconds) if key[1] else None
    if facts is not None:
        return facts.can
    metadata = calls.cache.get(("deployment", path_segment(deployment_id)))
    return capabilities_of(deployment_id, metadata) if metadata is not None else UNKNOWN


def localized_text(value: Any, locale: str) -> str:
    """Return a text from Core's metadata, in the caller's language if it is translated."""
    if isinstance(value, Mapping):
        return localize_text({str(key): str(text) for key, text in value.items()}, locale)
    return value if isinstance(value, str) else ""


def texts_of(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def context_window(limits: Any) -> int | None:
    """Return the limit on prompt and output tokens together. If Core sets no such limit, return the
    limit on prompt tokens, or None.
    """
    if not isinstance(limits, Mapping):
        return None
    return token_limit(limits.get("max_total_tokens")) or token_limit(
        limits.get("max_prompt_tokens")
    )


def most_output(limits: Any) -> int | None:
    """Return the maximum number of output tokens, or None if there is no limit."""
    return token_limit(limits.get("max_completion_tokens")) if isinstance(limits, Mapping) else None


async def find_endpoint(calls: Calls, deployment_id: str) -> McpEndpoint:
    """Return the MCP endpoint of a toolset or an application. Raises `DeploymentNotFound` if the
    caller cannot use it, `Unsupported` if it has no endpoint, and `ServiceFailed` if Core fails.
    """
    name = path_segment(deployment_id)
    written: Mapping[str, Any] | None = None
    if not name.startswith(APPLICATION):
        written = await calls.once(("toolset", name), partial(fetch_toolset, calls, name))
    if written is None:
        written = await application(calls, deployment_id)
    return endpoint(calls, name, written)


async def fetch_toolset(calls: Calls, name: str) -> Mapping[str, Any] | None:
    """Return the transport, name and description of a toolset, or None if it does not exist."""
    found = await get_entity(calls, "toolsets", name)
    if found is None:
        return None
    return {key: found.get(key) for key in ("transport", "display_name", "description")}


async def application(calls: Calls, deployment_id: str) -> Mapping[str, Any]:
    """Return Core's metadata for an application that offers its tools over MCP. Raises
    `DeploymentNotFound` if the caller cannot use it, `Unsupported` if it has no MCP endpoint, and
    `ServiceFailed` if Core fails.
    """
    metadata = await find_metadata(calls, deployment_id)
    if metadata.features.get("mcp") is not True:
        raise Unsupported(f"The deployment {deployment_id!r} does not offer its tools over MCP.")
    return metadata.written


def endpoint(calls: Calls, name: str, written: Mapping[str, Any]) -> McpEndpoint:
    is_sse = str(written.get("transport") or "").lower() == "sse"
    return McpEndpoint(
        url=f"{calls.core.url}/v1/toolset/{name}/mcp",
        headers=ascii_headers(forwarded_headers(calls.caller)),
        protocol="sse" if is_sse else "streamable_http",
        display_name=localizable(written.get("display_name")),
        description=localizable(written.get("description")),
    )


def localizable(value: Any) -> str | dict[str, str]:
    if isinstance(value, Mapping):
        return {str(locale): str(text) for locale, text in value.items()}
    return value if isinstance(value, str) else ""
