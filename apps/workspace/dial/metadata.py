"""Descriptions of deployments: features, limits, defaults, names."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.conf import settings

from apps.aged_cache import AgedCache
from apps.errors import DeploymentNotFound, ServiceFailed
from apps.manifest.names import localized
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import path_segment
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.kept_applications import made_for
from apps.workspace.dial.wire import mapping
from apps.workspace.known_models import known_model
from apps.workspace.model_capabilities import (
    UNKNOWN,
    ModelCapabilities,
    read_features,
    read_types,
    tokens,
)
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

APPLICATION = "applications/"
TECHNICAL = frozenset({"features", "defaults", "limits", "input_attachment_types"})
READ = TECHNICAL | {"display_name", "description"}
"""Fields that are kept. Core also tells an application its manifest, secrets included."""

_facts = AgedCache[tuple[str, str, str], DeploymentInfo]()
"""By Core, the application that the key was made for, and deployment."""


@dataclass(frozen=True, slots=True)
class Metadata:
    written: Mapping[str, Any]
    is_application: bool = False

    @property
    def features(self) -> Mapping[str, Any]:
        found = self.written.get("features")
        return found if isinstance(found, Mapping) else {}


async def find_info(calls: Calls, deployment_id: str) -> DeploymentInfo:
    """A model or an application as Core describes it to this caller.

    Raises `DeploymentNotFound`, `ServiceFailed`.
    """
    metadata = await find_metadata(calls, deployment_id)
    name = path_segment(deployment_id)
    schema = await calls.once(("schema", name), partial(fetch_schema, calls, name, metadata))
    return info_of(deployment_id, metadata, calls.caller.locale, schema)


async def find_facts(calls: Calls, deployment_id: str) -> DeploymentInfo:
    """Technical facts of a deployment, shared by all callers of one application.

    They have no texts and no configuration schema, and do not prove that this caller may use the
    deployment. Raises `DeploymentNotFound`, `ServiceFailed`.
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


def forget() -> None:
    _facts.clear()


async def find_metadata(calls: Calls, deployment_id: str) -> Metadata:
    """Raises `DeploymentNotFound`, `ServiceFailed`."""
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
    """The entity's document, None if there is none. Raises `ServiceFailed`."""
    try:
        return mapping(await calls.get_json(f"/openai/{kind}/{name}"))
    except CoreRefused as refusal:
        if refusal.status == 404:
            return None
        raise


async def fetch_schema(calls: Calls, name: str, metadata: Metadata) -> Mapping[str, Any]:
    """The schema; {} when Core cannot tell it, so that the deployment is called without one."""
    if metadata.features.get("configuration") is not True:
        return {}
    try:
        schema = await calls.get_json(f"/v1/deployments/{name}/configuration")
    except ServiceFailed as failure:
        logger.warning("The configuration of %s cannot be told: %s", name, failure)
        return {}
    return schema if isinstance(schema, Mapping) else {}


def info_of(
    deployment_id: str, metadata: Metadata, locale: str, schema: Mapping[str, Any] | None = None
) -> DeploymentInfo:
    """Read leniently: fields that are missing or malformed get their defaults."""
    written = metadata.written
    defaults = written.get("defaults")
    can = capabilities_of(deployment_id, metadata)
    return DeploymentInfo(
        id=deployment_id,
        display_name=text_of(written.get("display_name"), locale) or deployment_id,
        description=text_of(written.get("description"), locale),
        features={name: flag for name, flag in metadata.features.items() if isinstance(flag, bool)},
        reasoning_efforts=texts_of(metadata.features.get("reasoning_efforts")),
        input_attachment_types=texts_of(written.get("input_attachment_types")),
        context_window=can.context_window,
        defaults=defaults if isinstance(defaults, Mapping) else {},
        configuration_schema=schema or {},
        is_application=metadata.is_application,
        can=can,
        text_tools=settings.TEXT_TOOLS,
    )


def capabilities_of(deployment_id: str, metadata: Metadata) -> ModelCapabilities:
    """As Core lists them, else as they are known by the model's name; unknown of an application.

    Core lists a flag that nobody has set as false, so a false one says nothing. Where the operator
    vouches for them, that of `tools` is believed of models that are not known to call tools.
    """
    limits = ModelCapabilities(
        context_window=context_window(metadata.written.get("limits")),
        max_output_tokens=most_output(metadata.written.get("limits")),
    )
    if metadata.is_application:
        return limits
    flags = {name: flag for name, flag in metadata.features.items() if flag}
    told = read_features(flags).over(
        read_types(texts_of(metadata.written.get("input_attachment_types")))
    )
    known = limits.over(told).over(known_model(deployment_id))
    if settings.DIAL_TOOLS_FLAG_IS_SET and metadata.features.get("tools") is False:
        known = known.over(ModelCapabilities(tools=False))
    return known


def told_capabilities(calls: Calls, deployment_id: str) -> ModelCapabilities:
    """Those of a deployment that this request has asked for already; Core is not asked."""
    key = calls.core.url, made_for(calls.caller), deployment_id
    facts = _facts.get(key, calls.core.metadata_seconds) if key[1] else None
    if facts is not None:
        return facts.can
    metadata = calls.known.get(("deployment", path_segment(deployment_id)))
    return capabilities_of(deployment_id, metadata) if metadata is not None else UNKNOWN


def text_of(value: Any, locale: str) -> str:
    """A text, in the caller's language if there are several."""
    if isinstance(value, Mapping):
        return localized({str(key): str(text) for key, text in value.items()}, locale)
    return value if isinstance(value, str) else ""


def texts_of(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def context_window(limits: Any) -> int | None:
    """The limit of the prompt in tokens; the total limit if the prompt has none of its own."""
    if not isinstance(limits, Mapping):
        return None
    return tokens(limits.get("max_total_tokens")) or tokens(limits.get("max_prompt_tokens"))


def most_output(limits: Any) -> int | None:
    """The limit of an answer in tokens."""
    return tokens(limits.get("max_completion_tokens")) if isinstance(limits, Mapping) else None
