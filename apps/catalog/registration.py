"""Builds the entries for this server in DIAL Core's configuration file.

They register an application type, for applications whose manifests Core stores, and this
installation's applications.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError

from apps.catalog.models import Application
from apps.manifest.schema.manifest_schema import CORE_SCHEMA, TYPE_NAME

TYPE_ID = "quick_apps2"
"""The name of the application type. URLs contain it, so no application may have it as its slug."""
SUPPORT = "/v1/configuration-support"
INPUT_TYPES = "features__input_attachment_types"
"""Database queries find the accepted file types of a manifest at this path."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The base URLs of this server: `service` for DIAL Core, and `site` for browsers."""

    service: str
    site: str

    def completion(self, name: str) -> str:
        return f"{self.service}/openai/deployments/{name}/chat/completions"

    def configuration(self, name: str) -> str:
        return f"{self.service}/openai/deployments/{name}/configuration"


def clean_url(option: str, written: str) -> str:
    """Remove the trailing slash from the URL of a command option. Raises `CommandError` if it is
    not an HTTP URL.
    """
    if not written.startswith(("http://", "https://")):
        raise CommandError(f"{option} must begin with http:// or https://.")
    return written.rstrip("/")


def registration(
    schema_id: str, addresses: Addresses, applications: Iterable[Application]
) -> dict[str, Any]:
    """Return the part of DIAL Core's configuration file for this server and its applications."""
    return {
        "applicationTypeSchemas": [type_entry(schema_id, addresses)],
        "applications": {
            application.slug: application_entry(application, addresses)
            for application in applications
        },
    }


def type_entry(schema_id: str, addresses: Addresses) -> dict[str, Any]:
    """Return the configuration entry for the application type. DIAL Core fetches the properties of
    its schema from this server.
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
    """Return the file types that a stored, possibly invalid manifest accepts, or [] for all types."""
    features = manifest.get("features")
    types = features.get("input_attachment_types") if isinstance(features, Mapping) else None
    return list(types or ())
