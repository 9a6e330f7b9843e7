"""Generates the JSON schema of a manifest, for editors and DIAL Core.

DIAL requires inlined and numbered properties at the root. Installation settings, such as preview
features and URLs, are passed as arguments.
"""

from collections.abc import Collection

from apps.manifest.manifest import Manifest
from apps.manifest.schema.json_schema import (
    DEFINITION,
    Generator,
    Schema,
    drop_required,
    reachable,
    subschemas,
)
from apps.manifest.secrets import HIDDEN, SECRET

CORE_SCHEMA = "https://dial.epam.com/application_type_schemas/schema#"
"""The URL of DIAL Core's meta-schema for application types."""
TYPE_NAME = "Quick App 2.0"


def manifest_schema(
    *, preview: bool = True, default_deployment: str = "", secrets: Collection[str] | None = None
) -> Schema:
    """Return the JSON schema of a manifest as a new object.

    Without `preview`, the schema omits preview features. With `default_deployment`, the
    orchestrator's deployment is optional. `secrets` are the names of the secrets to which a
    document can refer. Use None for documents in DIAL Core, which cannot refer to secrets.
    """
    schema = Manifest.model_json_schema(schema_generator=Generator)
    definitions: dict[str, Schema] = schema["$defs"]
    if default_deployment:
        offer_deployment(definitions["Orchestrator"], default_deployment)
    settle_credentials(schema, is_choice=secrets is not None)
    if secrets is not None:
        definitions |= credential_references(secrets)
    unwrap_texts(schema)
    if not preview:
        gone = {DEFINITION + name for name, value in definitions.items() if value.get("x-preview")}
        drop_preview(schema, gone)
    properties = {
        name: written_out(value, definitions) for name, value in schema["properties"].items()
    }
    for order, value in enumerate(properties.values(), start=1):
        value["dial:meta"] = {"dial:propertyKind": "server", "dial:propertyOrder": order}
    used = reachable(properties, definitions)
    return {
        "type": "object",
        "properties": properties,
        "required": schema["required"],
        "$defs": {name: value for name, value in definitions.items() if name in used},
    }


def registered_schema(
    *,
    schema_id: str,
    completion_url: str,
    configuration_url: str,
    preview: bool = True,
    default_deployment: str = "",
) -> Schema:
    """Return the JSON schema with which DIAL Core registers an application type."""
    return {
        "$id": schema_id,
        "$schema": CORE_SCHEMA,
        "title": "ApplicationConfig",
        "dial:applicationTypeDisplayName": TYPE_NAME,
        "dial:appendApplicationPropertiesHeader": False,
        "dial:applicationTypeAssistantAttachmentsInRequestSupported": True,
        "dial:defaultLocale": "en",
        "dial:applicationTypeCompletionEndpoint": completion_url,
        "dial:applicationTypeConfigurationEndpoint": configuration_url,
        **manifest_schema(preview=preview, default_deployment=default_deployment),
    }


def unwrap_texts(schema: Schema) -> None:
    """Remove the line breaks of the source code from the descriptions in the schema."""
    if "description" in schema:
        schema["description"] = " ".join(schema["description"].split())
    for inner in subschemas(schema):
        unwrap_texts(inner)


def offer_deployment(orchestrator: Schema, deployment_id: str) -> None:
    orchestrator["properties"]["deployment"]["default"] = {"deployment_id": deployment_id}
    drop_required(orchestrator, {"deployment"})


def settle_credentials(schema: Schema, *, is_choice: bool) -> None:
    """Define each credential in the schema as a string. With `is_choice`, also allow a reference to
    a secret, and a mask for a stored credential.
    """
    if schema.pop("x-credential", False) and is_choice:
        names = (SECRET_REFERENCE, HIDDEN_CREDENTIAL)
        references = [{"$ref": DEFINITION + name} for name in names]
        schema["anyOf"] = [{"type": schema.pop("type")}, *references]
    for inner in subschemas(schema):
        settle_credentials(inner, is_choice=is_choice)


SECRET_REFERENCE = "SecretReference"  # noqa: S105 - of a definition
HIDDEN_CREDENTIAL = "HiddenCredential"


def credential_references(names: Collection[str]) -> dict[str, Schema]:
    """Return the schemas of the objects that can replace a credential: a reference to a secret, and
    a mask for a stored credential. `names` are the names of the secrets.
    """
    name: Schema = {"title": "Name", "type": "string"}
    if names:
        name["enum"] = [
            "",
            *sorted(names),
        ]  # Forms preselect the first choice, so it must not be a secret.
    return {
        SECRET_REFERENCE: only(SECRET, name, "A reference to a secret by its name."),
        HIDDEN_CREDENTIAL: only(
            HIDDEN,
            {"title": "Placeholder", "type": "string", "readOnly": True},
            "The stored credential, which is not shown.",
        ),
    }


def only(key: str, value: Schema, description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": {key: value},
        "required": [key],
        "additionalProperties": False,
    }


def drop_preview(schema: Schema, gone: set[str]) -> None:
    """Remove preview features from the schema: marked properties, and references to the definitions
    `gone`.
    """
    properties = schema.get("properties", {})
    if gated := {name for name, value in properties.items() if value.get("x-preview")}:
        schema["properties"] = {k: v for k, v in properties.items() if k not in gated}
        drop_required(schema, gated)
    for key in ("oneOf", "anyOf"):
        if key in schema:
            schema[key] = [item for item in schema[key] if item.get("$ref") not in gone]
    if mapping := schema.get("discriminator", {}).get("mapping"):
        kept = {tag: target for tag, target in mapping.items() if target not in gone}
        schema["discriminator"]["mapping"] = kept
    for inner in subschemas(schema):
        drop_preview(inner, gone)


def written_out(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """Inline the definition to which a property refers. Keys next to the reference override keys of
    the definition.
    """
    name = schema.get("$ref", "").removeprefix(DEFINITION)
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return {**definitions.get(name, {}), **beside}
