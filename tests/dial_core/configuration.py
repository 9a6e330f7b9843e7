"""Core's configuration file: models, applications with their types, toolsets, keys, roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.dial_core.urls import canonical, is_resource

Kind = Literal["model", "application", "toolset"]
SECTIONS: dict[str, Kind] = {
    "models": "model",
    "applications": "application",
    "toolsets": "toolset",
}
PROPERTY_ENDPOINTS = {
    "configuration": ("configurationEndpoint", "dial:applicationTypeConfigurationEndpoint"),
    "tokenize": ("tokenizeEndpoint", "dial:applicationTypeTokenizeEndpoint"),
    "truncate_prompt": ("truncatePromptEndpoint", "dial:applicationTypeTruncatePromptEndpoint"),
    "rate": ("rateEndpoint", "dial:applicationTypeRateEndpoint"),
}
MISSPELT = {
    "tokenize": "dial:applicationTypeTokenizeEndpointEndpoint",
    "rate": "dial:applicationTypeRateEndpointEndpoint",
}
"""Keys that one revision of Core looked up instead; see `Settings.reads_misspelt_endpoints`."""


@dataclass(slots=True)
class Settings:
    """Differences between installations and revisions of Core. `replaces_usage`: `usage_per_model`
    is removed, and a chunk of Core's own without an id precedes `[DONE]`.
    `shows_custom_applications`: those of users are listed."""

    replaces_usage: bool = False
    shows_custom_applications: bool = False
    reads_misspelt_endpoints: bool = False


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment. `fields` are those of the configuration, in camelCase; `id` is the one that
    clients use."""

    id: str
    kind: Kind
    fields: Mapping[str, Any]
    schema: Mapping[str, Any] | None = None

    @property
    def is_custom(self) -> bool:
        """Return True for a user's resource, which is not in the configuration."""
        return is_resource(self.id)

    @property
    def endpoint(self) -> str | None:
        if self.schema is not None:
            return self.schema.get("dial:applicationTypeCompletionEndpoint")
        interface = (self.fields.get("interfaces") or {}).get("openaiChatCompletions") or {}
        if "base_url" in interface:
            path = f"/openai/deployments/{canonical(self.id)}/chat/completions"
            return str(interface["base_url"]).rstrip("/") + path
        return self.fields.get("endpoint")

    @property
    def properties(self) -> Mapping[str, Any] | None:
        return self.fields.get("applicationProperties")

    @property
    def sends_properties(self) -> bool:
        """Return True if the header with the application's properties is sent, which is the
        default."""
        schema = self.schema or {}
        return bool(schema.get("dial:appendApplicationPropertiesHeader", True))

    def feature_endpoint(self, name: str, settings: Settings) -> str | None:
        ours, of_type = PROPERTY_ENDPOINTS[name]
        if self.schema is None:
            return (self.fields.get("features") or {}).get(ours)
        if settings.reads_misspelt_endpoints:
            of_type = MISSPELT.get(name, of_type)
        return self.schema.get(of_type)

    def properties_for(self, kinds: frozenset[str]) -> dict[str, Any]:
        """Return the top-level properties of these kinds. Those that the schema does not annotate
        are omitted."""
        declared = (self.schema or {}).get("properties") or {}
        return {
            name: value
            for name, value in (self.properties or {}).items()
            if declared.get(name, {}).get("dial:meta", {}).get("dial:propertyKind") in kinds
        }


EVERY_KIND = frozenset({"client", "server"})


@dataclass(slots=True)
class Configuration:
    deployments: dict[str, Deployment] = field(default_factory=dict)
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict)

    def read(self, document: Mapping[str, Any]) -> None:
        for schema in document.get("applicationTypeSchemas", ()):
            self.schemas[schema["$id"]] = dict(schema)
        for section, kind in SECTIONS.items():
            for name, fields in document.get(section, {}).items():
                self.add(self.deployment(name, kind, fields))

    def add(self, deployment: Deployment) -> None:
        self.deployments[deployment.id] = deployment

    def deployment(self, name: str, kind: Kind, fields: Mapping[str, Any]) -> Deployment:
        """Return a deployment. Raises `KeyError` for an unregistered type of applications."""
        camel = {camel_case(key): value for key, value in fields.items()}
        schema_id = camel.get("applicationTypeSchemaId")
        return Deployment(name, kind, camel, self.schemas[schema_id] if schema_id else None)


def camel_case(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def named_resources(schema: Any, value: Any, root: Any = None) -> Iterator[str]:
    """Return the strings of a value that its schema declares as a file or a resource, at any depth."""
    root = schema if root is None else root
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema:
        yield from named_resources(pointed(root, schema["$ref"]), value, root)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for option in schema.get(keyword, ()):
            yield from named_resources(option, value, root)
    if isinstance(value, str) and (schema.get("dial:file") or schema.get("dial:resource")):
        yield value
    for of_part, part in parts(schema, value):
        yield from named_resources(of_part, part, root)


def parts(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """Return the parts of a value, each with its schema."""
    if isinstance(value, list):
        yield from ((schema.get("items"), item) for item in value)
    elif isinstance(value, Mapping):
        declared = schema.get("properties") or {}
        for name, item in value.items():
            yield declared.get(name, schema.get("additionalProperties")), item


def pointed(root: Any, reference: str) -> Any:
    for step in reference.removeprefix("#/").split("/"):
        root = root.get(step, {})
    return root
