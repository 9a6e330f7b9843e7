"""Builds the entries for this server in DIAL Core's configuration file.

The entries are the application type, whose manifests Core stores, and the applications of this
installation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError

from apps.catalog.models import Application
from apps.manifest.schema.manifest_schema import CORE_SCHEMA, TYPE_NAME

TYPE_ID = "quick_apps2"
"""The name of the application type in URLs. No application may have it as its slug."""
SUPPORT = "/v1/configuration-support"
INPUT_TYPES = "features__input_attachment_types"
"""The path of the input types in a stored manifest, for database queries."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The base URLs of this server: `service` is for Core, and `site` is for users' browsers."""

    service: str
    site: str

    def completion(self, name: str) -> str:
        return f"{self.service}/openai/deployments/{name}/chat/completions"

    def configuration(self, name: str) -> str:
        return f"{self.service}/openai/deployments/{name}/configuration"


def clean_url(option: str, written: str) -> str:
    """Return the URL of a command option without its trailing slash. Raises `CommandError` for an
    invalid URL.
    """
    if not written.startswith(("http://", "https://")):
        raise CommandError(f"{option} must begin with http:// or https://.")
    return written.rstrip("/")


def registration(
    schema_id: str, addresses: Addresses, applications: Iterable[Application]
) -> dict[str, Any]:
    """Return the entries for this server as a fragment of Core's configuration file."""
    return {
        "applicationTypeSchemas": [type_entry(schema_id, addresses)],
        "applications": {
            application.slug: application_entry(application, addresses)
            for application in applications
        },
    }


def type_entry(schema_id: str, addresses: Addresses) -> dict[str, Any]:
    """Return the entry of the application type, without the properties of the schema, which Core
    fetches from this server.
    """
    return {
        "$schema": CORE_SCHEMA,
        "$id": schema_id,
        "dial:applicationTypeDisplayName": TYPE_NAME,
        "dial:applicationTypeCompletionEndpoint": addresses.completion(TYPE_ID),
        "dial:applicationTypeConfigurationEndpoint": addresses.configuration(TYPE_ID),
        "dial:applicationTypeSchemaEndpoint": f"{addresses.service}{SUPPORT}/application-schema",
        "dial:applicationTypeEditorUrl": f"{addresses.site}/dial/editor/",
        # A manifest is too long for a header. Fetching it from Core also authenticates the caller.
        "dial:appendApplicationPropertiesHeader": False,
        "dial:applicationTypeAssistantAttachmentsInRequestSupported": True,
        "dial:applicationTypeBucketCopy": "ENABLED",
        "dial:applicationTypeRoutes": {
            "support_read": route(addresses, "GET", f"{SUPPORT}(/[^/]+)*$"),
            "support_validate": route(addresses, "POST", f"{SUPPORT}/validate$"),
            "skills_validate": {
                **route(addresses, "POST", f"{SUPPORT}/skills/validate$"),
                "dial:attachmentPaths": {"dial:requestBody": ["@.url"]},
            },
        },
    }


def route(addresses: Addresses, method: str, path: str) -> dict[str, Any]:
    return {
        "dial:paths": [path],
        "dial:methods": [method],
        "dial:rewritePath": True,
        "dial:permissions": ["WRITE"],
        "dial:upstreams": [{"dial:endpoint": addresses.service}],
    }


def application_entry(application: Application, addresses: Addresses) -> dict[str, Any]:
    return {
        "displayName": application.title,
        "description": application.description,
        "endpoint": addresses.completion(application.slug),
        "inputAttachmentTypes": input_types(application.manifest) or ["*/*"],
        "forwardAuthToken": True,
        "features": {
            "configurationEndpoint": addresses.configuration(application.slug),
            "toolsSupported": True,
            "urlAttachmentsSupported": True,
            "assistantAttachmentsInRequestSupported": True,
        },
        "viewerUrl": f"{addresses.site}{application.get_absolute_url()}",
        "editorUrl": f"{addresses.site}/dial/editor/",
    }


def input_types(manifest: Mapping[str, Any]) -> list[str]:
    """Return the types of input files that a stored manifest allows, or [] for all types. The
    manifest may be one that cannot be resolved.
    """
    features = manifest.get("features")
    types = features.get("input_attachment_types") if isinstance(features, Mapping) else None
    return list(types or ())
