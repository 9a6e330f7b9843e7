"""Converts OpenAPI 2.0 (Swagger) documents to OpenAPI 3.0."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from apps.console.studio.tool_sources.parameter_dialect import list_or_empty
from apps.console.studio.tool_sources.references import REF, References
from apps.console.studio.tool_sources.source_texts import SourceInvalid

METHODS = ("get", "post", "put", "delete", "patch", "head", "options")
AROUND_SCHEMA = ("name", "in", "description", "required")
"""The keys of a parameter that OpenAPI 3.0 writes next to the parameter's schema, not in it."""
FORM = "application/x-www-form-urlencoded"
FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}


def as_openapi(document: Mapping[str, Any], address: str) -> dict[str, Any]:
    """Convert a document to OpenAPI 3.0. Schemas stay in place, so that references to them stay
    valid. `address` is the URL of the document, or "" if it was pasted.
    """
    paths = document.get("paths")
    converter = Converter(document)
    return {
        **document,
        "openapi": "3.0.3",
        "servers": [{"url": server_url(document, address)}],
        "components": {"securitySchemes": security_schemes(document.get("securityDefinitions"))},
        "paths": {
            path: converter.path_item(item, f"paths.{path[:100]}")
            for path, item in (paths.items() if isinstance(paths, dict) else ())
        },
    }


def server_url(document: Mapping[str, Any], address: str) -> str:
    base, host = document.get("basePath"), document.get("host")
    path = f"/{base.strip('/')}" if isinstance(base, str) else "/"
    if not isinstance(host, str) or not host:
        return path
    schemes = [one for one in list_or_empty(document.get("schemes")) if one in ("https", "http")]
    own = urlsplit(address).scheme if address else "https"
    scheme = "https" if "https" in schemes else next(iter(schemes), own)
    return f"{scheme}://{host}{path}"


class Converter:
    """Converts the operations of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.references = References(document)
        self.consumes = document.get("consumes")

    def path_item(self, item: Any, location: str) -> Any:
        if not isinstance(item, dict):
            return item
        shared = list_or_empty(item.get("parameters"))
        return {
            key: self.operation(value, shared, f"{location}.{key}")
            if key in METHODS and isinstance(value, dict)
            else value
            for key, value in item.items()
            if key != "parameters"
        }

    def operation(self, operation: Mapping[str, Any], shared: list[Any], location: str) -> Any:
        # The operation's parameters come last and override those of its path.
        given = {
            (str(one.get("in")), str(one.get("name") or one)): one
            for one in self.followed(
                [*shared, *list_or_empty(operation.get("parameters"))], location
            )
        }
        kinds = [one for one in list_or_empty(operation.get("consumes") or self.consumes) if one]
        parameters = [one for one in given.values() if one.get("in") not in ("body", "formData")]
        written = {**operation, "parameters": list(map(parameter, parameters))}
        body = next((one for one in given.values() if one.get("in") == "body"), None)
        form = [one for one in given.values() if one.get("in") == "formData"]
        if body is not None:
            content = {str(kind): {"schema": body.get("schema")} for kind in kinds}
            written["requestBody"] = {
                "required": body.get("required") is True,
                "content": content or {"application/json": {"schema": body.get("schema")}},
            }
        elif form:
            written["requestBody"] = form_body(form, kinds)
        return written

    def followed(self, parameters: list[Any], location: str) -> Iterator[dict[str, Any]]:
        """Resolve references to parameters. Unresolvable references remain, so that the operation
        reports them.
        """
        for one in parameters:
            try:
                yield self.references.follow(one, location)[0]
            except SourceInvalid:
                yield one if isinstance(one, dict) else {}


def parameter(found: Mapping[str, Any]) -> dict[str, Any]:
    if REF in found:
        return dict(found)
    around = {key: found[key] for key in AROUND_SCHEMA if key in found}
    is_repeated = found.get("collectionFormat") == "multi"
    return {**around, "explode": is_repeated, "schema": schema_of(found)}


def schema_of(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in AROUND_SCHEMA}


def form_body(fields: list[dict[str, Any]], kinds: list[Any]) -> dict[str, Any]:
    required = [str(one.get("name")) for one in fields if one.get("required") is True]
    properties = {
        str(one.get("name")): {**schema_of(one), "description": one.get("description")}
        for one in fields
    }
    schema = {"type": "object", "properties": properties, "required": required}
    content = {str(kind): {"schema": schema} for kind in kinds or (FORM,)}
    return {"required": bool(required), "content": content}


def security_schemes(definitions: Any) -> dict[str, Any]:
    found = definitions if isinstance(definitions, dict) else {}
    return {name: security_scheme(one) for name, one in found.items() if isinstance(one, dict)}


def security_scheme(found: Mapping[str, Any]) -> dict[str, Any]:
    if found.get("type") == "basic":
        return {"type": "http", "scheme": "basic"}
    if found.get("type") != "oauth2":
        return dict(found)
    flow = FLOWS.get(str(found.get("flow")), str(found.get("flow")))
    return {"type": "oauth2", "flows": {flow: dict(found)}}
