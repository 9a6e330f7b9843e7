"""Converts the operations of an OpenAPI document (2.0, 3.0 or 3.1) to REST tools.

The document is untrusted, so references to other documents are not followed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from apps.console.studio.tool_sources.parameter_dialect import (
    DEEPEST,
    DEPTHS,
    MOST_PARTS,
    ParameterReader,
    ToolTooLarge,
    description_or_default,
    list_or_empty,
)
from apps.console.studio.tool_sources.references import References
from apps.console.studio.tool_sources.request_bodies import BodyReader
from apps.console.studio.tool_sources.rest_tools import RestParameter, function_name, rest_tool
from apps.console.studio.tool_sources.security_schemes import SchemeAuthorization, authorization_of
from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.console.studio.tool_sources.swagger import as_openapi
from apps.manifest.validation.warnings import MOST_TOOL_CHARACTERS, parameter_size
from apps.workspace.egress.urls import AddressInvalid, read_url

METHODS = ("get", "post", "put", "delete")
UNUSABLE = ("patch", "head", "options", "trace")
MOST_OPERATIONS = 5_000
IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
"""The OpenAPI specification requires that header parameters with these names be ignored."""
PARAMETER_TYPES = {"query": "query", "path": "url", "header": "header"}
MOST_NAMED = 5
NOT_CALLED = "tools support only GET, POST, PUT and DELETE."

_placeholder = re.compile(r"\{([^{}/?#]+)\}")
_bad_in_path = re.compile(r"[\s\\?#\x00-\x1f\x7f]|(?:^|/)(?:\.|%2e){1,2}(?:/|$)|//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DescribedOperation:
    """An operation in an OpenAPI document. It has either a `tool` for a manifest or a `problem`,
    the reason why no tool can call it.
    """

    method: str
    path: str
    name: str = ""
    summary: str = ""
    parameters: tuple[str, ...] = ()
    is_deprecated: bool = False
    problem: str = ""
    notes: tuple[str, ...] = ()
    tool: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    title: str
    description: str
    base_url: str
    """The URL of the service, or "" if the document has no usable URL."""
    authorization: SchemeAuthorization | None
    notes: tuple[str, ...]
    operations: tuple[DescribedOperation, ...]


def read_service(document: Mapping[str, Any], address: str = "") -> ServiceDescription:
    """Parse an OpenAPI document. `address` is the URL from which it was fetched, or "". Raises
    `SourceInvalid` if it has no operations.
    """
    if str(document.get("swagger", "")).startswith("2") and "openapi" not in document:
        document = as_openapi(document, address)
    check_version(document)
    paths = document.get("paths")
    if not isinstance(paths, dict) or not paths:
        raise SourceInvalid("paths: the document has no operations.")
    told = document.get("info")
    info: dict[str, Any] = told if isinstance(told, dict) else {}
    base_url, notes = server_address(document.get("servers"), address)
    reader = OperationReader(document, base_url, address)
    operations: list[DescribedOperation] = []
    for operation in reader.operations(paths):
        if len(operations) == MOST_OPERATIONS:
            notes = (*notes, f"Only the first {MOST_OPERATIONS:,} operations are listed.")
            break
        operations.append(operation)
    if not operations:
        raise SourceInvalid("paths: the document has no operations.")
    if reader.schemas.parts > MOST_PARTS:
        notes = (*notes, "The document is so large that some arguments are not described in full.")
    title = description_or_default(info.get("title")) or "Service"
    authorization = authorization_of(document, reader.references, title)
    return ServiceDescription(
        title[:100],
        description_or_default(info.get("description")),
        base_url,
        authorization,
        notes,
        tuple(operations),
    )


def check_version(document: Mapping[str, Any]) -> None:
    version = document.get("openapi")
    if str(version).startswith(("3.0", "3.1")):
        return
    if "swagger" in document or "swaggerVersion" in document:
        raise SourceInvalid(
            "swagger: Swagger 1 is not supported; convert the document to OpenAPI 3."
        )
    if version is None:
        raise SourceInvalid("openapi: the key is missing, so this is not an OpenAPI document.")
    raise SourceInvalid("openapi: unsupported version; use 2.0, 3.0 or 3.1.")


def server_address(servers: Any, address: str) -> tuple[str, tuple[str, ...]]:
    """Return the URL of the first server, with its variables set to their defaults, and an empty
    tuple. If the URL cannot be used, return "" and notes for the user.
    """
    server = next((one for one in list_or_empty(servers) if isinstance(one, dict)), {})
    named, told = server.get("url"), server.get("variables")
    url = named if isinstance(named, str) else ""
    variables: dict[str, Any] = told if isinstance(told, dict) else {}
    for name, variable in variables.items():
        default = variable.get("default") if isinstance(variable, dict) else None
        url = url.replace(f"{{{name}}}", default if isinstance(default, str) else "")
    try:
        full = urljoin(address, url or "/") if address else url
        if full.startswith(("http://", "https://")) and not re.search(r"[?#{}\s]", full):
            read_url(full)
            return full.rstrip("/"), ()
    except (AddressInvalid, ValueError):
        pass
    return "", ("The document contains no usable URL. Enter the URL of the service.",)


class OperationReader:
    """Converts the operations of one document. Assigns unique names to their tools."""

    def __init__(self, document: Mapping[str, Any], base_url: str, address: str) -> None:
        self.references = References(document)
        self.schemas = ParameterReader(self.references)
        self.bodies = BodyReader(self.schemas)
        self.base_url = base_url
        self.address = address
        self.names: set[str] = set()

    def operations(self, paths: Mapping[str, Any]) -> Iterator[DescribedOperation]:
        for path, item in paths.items():
            location = f"paths.{path[:100]}"
            if path.startswith("x-"):
                continue
            try:
                item, _ = self.references.follow(item, location)
            except SourceInvalid as error:
                yield DescribedOperation("", path, problem=str(error))
                continue
            for method in (*METHODS, *UNUSABLE):
                if isinstance(item.get(method), dict):
                    yield self.operation(path, method, item, f"{location}.{method}")

    def operation(
        self, path: str, method: str, item: Mapping[str, Any], location: str
    ) -> DescribedOperation:
        """Describe the operation. Limit the nesting depth of its parameters, so that the tool does
        not exceed the maximum size.
        """
        for deepest in DEPTHS:
            self.schemas.begin_tool(deepest)
            try:
                found = self.described_operation(path, method, item, location)
            except ToolTooLarge:
                continue
            if deepest == DEEPEST:
                return found
            note = f"Its arguments are described to a depth of {deepest} levels; deeper values are not checked."
            return replace(found, notes=(*found.notes, note))
        raise AssertionError  # At depth 0, parameters are omitted, and no error is raised.

    def described_operation(
        self, path: str, method: str, item: Mapping[str, Any], location: str
    ) -> DescribedOperation:
        """Describe the operation with the current limit for the nesting depth. Raises
        `ToolTooLarge` if the tool exceeds the maximum size.
        """
        found = item[method]
        summary = description_or_default(found.get("summary")) or description_or_default(
            found.get("description")
        )
        is_deprecated = found.get("deprecated") is True
        try:
            if method not in METHODS:
                raise SourceInvalid(f"{location}: {NOT_CALLED}")
            if not path.startswith("/") or _bad_in_path.search(path):
                raise SourceInvalid(f"{location}: this is not a valid path.")
            notes: list[str] = []
            parameters = [*self.parameters(item, found, path, location, notes)]
            if "requestBody" in found:
                body = f"{location}.requestBody"
                parameters += self.bodies.parameters(found["requestBody"], body, notes)
            parameters = self.fitting(parameters, location, notes)
            url = self.url_of(path, item, found, location)
        except SourceInvalid as error:
            return DescribedOperation(method, path, "", summary, (), is_deprecated, str(error))
        wanted = found.get("operationId")
        has_id = isinstance(wanted, str) and wanted.strip()
        name = function_name(str(wanted) if has_id else f"{method}_{path}", self.names)
        self.names.add(name)
        words = description_or_default(
            "\n\n".join(
                dict.fromkeys(
                    filter(
                        None,
                        (
                            description_or_default(found.get("summary")),
                            description_or_default(found.get("description")),
                        ),
                    )
                )
            )
        )
        tool = rest_tool(name, words or f"{method.upper()} {path}", method, url, parameters)
        shown = tuple(tool["open_ai_tool"]["function"]["parameters"]["properties"])
        return DescribedOperation(
            method, path, name, summary, shown, is_deprecated, "", tuple(notes), tool
        )

    def fitting(
        self, parameters: Sequence[RestParameter], location: str, notes: list[str]
    ) -> list[RestParameter]:
        """Return the parameters. Raises `ToolTooLarge` if they exceed the maximum size of a tool.

        At depth 0, omits optional parameters instead, and raises `SourceInvalid` if the required
        parameters alone exceed the maximum.
        """
        sizes = [parameter_size(one.key, one.schema) for one in parameters]
        if sum(sizes) <= MOST_TOOL_CHARACTERS:
            return list(parameters)
        if self.schemas.deepest > DEPTHS[-1]:
            raise ToolTooLarge
        needed = [index for index, one in enumerate(parameters) if one.is_required]
        left = MOST_TOOL_CHARACTERS - sum(sizes[index] for index in needed)
        if left < 0:
            raise SourceInvalid(
                f"{location}: its {len(needed):,} required arguments are too large; the limit is "
                f"{MOST_TOOL_CHARACTERS:,} characters per tool."
            )
        kept = set(needed)
        for index in range(len(parameters)):
            if index not in kept and sizes[index] <= left:
                kept.add(index)
                left -= sizes[index]
        without = [one.key[:100] for index, one in enumerate(parameters) if index not in kept]
        named = ", ".join(without[:MOST_NAMED])
        notes.append(
            f"{len(without):,} of its {len(parameters):,} arguments are omitted, because the limit is "
            f"{MOST_TOOL_CHARACTERS:,} characters per tool: {named}"
            f"{' and others' if len(without) > MOST_NAMED else ''}. None of them is required."
        )
        return [parameters[index] for index in sorted(kept)]

    def url_of(
        self, path: str, item: Mapping[str, Any], found: Mapping[str, Any], location: str
    ) -> str:
        """Return the path of the operation, or its whole URL if it has servers of its own."""
        servers = found.get("servers") or item.get("servers")
        if not servers:
            return path
        own, notes = server_address(servers, self.address)
        if notes:
            raise SourceInvalid(f"{location}.servers: the list has no URL that can be called.")
        return path if own == self.base_url else f"{own}{path}"

    def parameters(
        self,
        item: Mapping[str, Any],
        found: Mapping[str, Any],
        path: str,
        location: str,
        notes: list[str],
    ) -> Iterator[RestParameter]:
        # The operation's parameters override those of its path.
        named: dict[tuple[str, str], RestParameter] = {}
        both = [(f"paths.{path}", item), (location, found)]
        for where, holder in both:
            for index, raw in enumerate(list_or_empty(holder.get("parameters"))):
                at = f"{where}.parameters[{index}]"
                parameter, _ = self.references.follow(raw, at)
                if read := self.parameter(parameter, at, notes):
                    named[read.where, read.key] = read
        in_path = dict.fromkeys(_placeholder.findall(path))
        for key in in_path:
            if ("url", key) not in named:
                notes.append(f"{key} is in the URL but not described.")
            schema = {"type": "string"}
            yield named.get(("url", key)) or RestParameter(key, "url", schema, is_required=True)
        yield from (one for (where, _), one in named.items() if where != "url")

    def parameter(
        self, parameter: Mapping[str, Any], at: str, notes: list[str]
    ) -> RestParameter | None:
        """Convert a parameter, or return None if tools do not send it. Raises `SourceInvalid` if it
        is required but cannot be sent.
        """
        key, where = parameter.get("name"), parameter.get("in")
        if not isinstance(key, str) or not key:
            raise SourceInvalid(f"{at}: the parameter has no name.")
        is_required = parameter.get("required") is True or where == "path"
        if where not in PARAMETER_TYPES:
            if is_required:
                raise SourceInvalid(f"{at}: {key} is sent in a cookie, which tools do not support.")
            return None
        if where == "header" and key.lower() in IGNORED_HEADERS:
            return None
        schema = parameter.get("schema")
        if schema is None and isinstance(parameter.get("content"), dict):
            media = next(iter(parameter["content"].values()), None)
            schema = media.get("schema") if isinstance(media, dict) else None
        written = self.schemas.parameter(
            schema, f"{at}.schema", description_or_default(parameter.get("description"))
        )
        if (
            where == "query"
            and written["type"] == "array"
            and parameter.get("explode") is not False
        ):
            notes.append(f"{key} is sent as one comma-separated text, not once per value.")
        return RestParameter(key, PARAMETER_TYPES[where], written, is_required)
