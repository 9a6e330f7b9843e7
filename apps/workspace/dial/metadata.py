"""What Core tells of a deployment."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.errors import DeploymentNotFound, ServiceFailed
from apps.manifest.names import localized
from apps.workspace.dial.cache import find_cache, identity
from apps.workspace.dial.calls import Calls, mapping
from apps.workspace.dial.core import encoded
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

APPLICATION = "applications/"
TOOLSET = "toolsets/"
READ = frozenset({"display_name", "description", "features", "defaults", "limits"})
READ |= {"input_attachment_types"}
"""What is kept: an application tells itself much more, the secrets of its manifest among it."""
LIMITS = ("max_total_tokens", "max_prompt_tokens")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What was written of a deployment, and the JSON Schema of its configuration."""

    written: Mapping[str, Any]
    configuration_schema: Mapping[str, Any] = field(default_factory=dict)
    is_application: bool = False

    @property
    def features(self) -> Mapping[str, Any]:
        found = self.written.get("features")
        return found if isinstance(found, Mapping) else {}


def path_segment(deployment_id: str) -> str:
    """Raises `DeploymentNotFound` for what can be no id."""
    try:
        return encoded(deployment_id)
    except ValueError:
        raise DeploymentNotFound(deployment_id) from None


async def find_metadata(calls: Calls, deployment_id: str) -> Metadata:
    """Of a model or an application. Raises `DeploymentNotFound`, `ServiceFailed`."""
    name = path_segment(deployment_id)
    who = identity(calls.caller)

    async def fetch() -> Metadata:
        return await fetch_metadata(calls, deployment_id, name)

    key = ("deployment", calls.core.url, who, name)
    found: Metadata = await find_cache().find(key, who, fetch, calls.core.metadata_seconds)
    return found


async def fetch_metadata(calls: Calls, deployment_id: str, name: str) -> Metadata:
    """A name without a folder is a model's or an application's that Core's settings declare."""
    is_application = name.startswith(APPLICATION)
    for kind in ("applications",) if is_application else ("models", "applications"):
        written = await get_entity(calls, kind, name)
        if written is not None:
            kept = {key: value for key, value in written.items() if key in READ}
            schema = await fetch_schema(calls, name, kept)
            return Metadata(kept, schema, is_application=kind == "applications")
    raise DeploymentNotFound(deployment_id)


async def get_entity(calls: Calls, kind: str, name: str) -> Mapping[str, Any] | None:
    """None when Core knows none of that name. Raises `ServiceFailed`."""
    try:
        return mapping(await calls.get_json(f"/openai/{kind}/{name}"))
    except CoreRefused as refusal:
        if refusal.status == 404:
            return None
        raise


async def fetch_schema(calls: Calls, name: str, written: Mapping[str, Any]) -> Mapping[str, Any]:
    """A deployment whose configuration cannot be told is called without one."""
    features = written.get("features")
    if not isinstance(features, Mapping) or features.get("configuration") is not True:
        return {}
    try:
        schema = await calls.get_json(f"/v1/deployments/{name}/configuration")
    except ServiceFailed as failure:
        logger.warning("The configuration of %s cannot be told: %s", name, failure)
        return {}
    return schema if isinstance(schema, Mapping) else {}


def info_of(deployment_id: str, metadata: Metadata, locale: str) -> DeploymentInfo:
    """Lenient: what is missing or odd is as if nothing was said of it."""
    written = metadata.written
    defaults = written.get("defaults")
    return DeploymentInfo(
        id=deployment_id,
        display_name=text_of(written.get("display_name"), locale) or deployment_id,
        description=text_of(written.get("description"), locale),
        features={name: flag for name, flag in metadata.features.items() if isinstance(flag, bool)},
        reasoning_efforts=texts_of(metadata.features.get("reasoning_efforts")),
        input_attachment_types=texts_of(written.get("input_attachment_types")),
        context_window=context_window(written.get("limits")),
        defaults=defaults if isinstance(defaults, Mapping) else {},
        files="path",
        configuration_schema=metadata.configuration_schema,
        is_application=metadata.is_application,
    )


def text_of(value: Any, locale: str) -> str:
    """Text, or the one of several languages that suits the caller."""
    if isinstance(value, Mapping):
        return localized({str(key): str(text) for key, text in value.items()}, locale)
    return value if isinstance(value, str) else ""


def texts_of(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def context_window(limits: Any) -> int | None:
    """In tokens; where the prompt has a limit of its own, that one."""
    if not isinstance(limits, Mapping):
        return None
    known = (limits.get(name) for name in LIMITS)
    return next((limit for limit in known if type(limit) is int and limit > 0), None)
