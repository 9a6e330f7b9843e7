"""Repairs server results that deviate from the protocol.

The SDK rejects a whole list or result because of one invalid field. This module therefore omits and
reports invalid parts before the SDK validates the result.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.methods import parse_server_result
from pydantic import ValidationError

from apps.capabilities.mcp.messages.input_schemas import MOST_CHARACTERS, standard_schema
from apps.capabilities.mcp.messages.result_bounds import with_left_out
from apps.capabilities.mcp.messages.structured_content import without_binary
from apps.capabilities.wrappers.value_texts import one_line, shorten_text

VERSION = "2025-11-25"
"""The protocol version to validate against until the server reports its version."""
MOST_REASONS = 50
MOST_ODD_FIELDS = 10
PART_CHARACTERS = 2_000
CURSOR_CHARACTERS = 100
NEEDED = {"tools": frozenset({"name", "inputSchema"}), "resources": frozenset({"uri", "name"})}
METHODS = {"tools": "tools/list", "resources": "resources/list"}
VALUE_CHARACTERS = 60
EXPECTED: Mapping[str, str] = {
    "bool_type": "a boolean",
    "dict_type": "an object",
    "list_type": "a list",
    "literal_error": "“object”",
    "model_type": "an object",
    "string_type": "a text",
}
"""Maps pydantic's error types to descriptions of the expected value."""
CALL_KEYS = frozenset({"content", "structuredContent", "isError"})
OTHER_KEYS = frozenset(
    {"protocolVersion", "serverInfo", "supportedVersions", "capabilities", "tools", "resources"}
    | {"resourceTemplates", "contents", "prompts", "messages", "completion", "roots", "action"}
    | {"model", "task", "tasks", "taskId", "inputRequests", "resultType"}
)
"""These keys occur only in the results of methods other than `tools/call`. A tool call's result may
have any other keys.
"""
PARTS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name", "title", "description", "mimeType"),
}

Object = dict[str, Any]


def fitted_opening(result: Object) -> Object:
    """Convert the server's response to `initialize` to a valid form.

    Some servers omit fields or send an empty list for an empty object.
    """
    told = result.get("serverInfo")
    info = told if isinstance(told, dict) else {"name": told}
    name, version = info.get("name"), info.get("version")
    names = {
        "name": name if isinstance(name, str) else "",
        "version": version if isinstance(version, str) else "",
    }
    title = {"title": info["title"]} if isinstance(info.get("title"), str) else {}
    stated = result.get("capabilities")
    # If a server does not declare its capabilities, assume tools, because most servers have them.
    offered = stated if isinstance(stated, dict) else {"tools": {}}
    capabilities = {
        key: fitted_capability(value)
        for key, value in offered.items()
        if key in CAPABILITIES and value not in (None, False)
    }
    found = {
        "protocolVersion": result["protocolVersion"],
        "serverInfo": {**names, **title},
        "capabilities": capabilities,
    }
    instructions = result.get("instructions")
    lines = instructions if isinstance(instructions, list) else [instructions]
    if text := "\n".join(line for line in lines if isinstance(line, str)):
        found["instructions"] = text
    return found


CAPABILITIES = frozenset({"tools", "resources", "prompts", "logging", "completions"})


def fitted_capability(value: Any) -> Object:
    flags = value if isinstance(value, dict) else {}
    return {key: flag for key, flag in flags.items() if isinstance(flag, bool)}


class LenientResults:
    """Repairs the results in one session, according to the server's protocol version."""

    def __init__(self) -> None:
        self.version = VERSION

    def read(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
            return item
        result = item.message.result
        if isinstance(version := result.get("protocolVersion"), str):
            self.version = version
        is_opening = "protocolVersion" in result
        if is_opening and self.problem("initialize", result) is not None:
            fitting = fitted_opening(result)
        else:
            fitting = self.fitted(result)
        if fitting is result:
            return item
        return replace(item, message=item.message.model_copy(update={"result": fitting}))

    def fitted(self, result: Object) -> Object:
        for key, method in METHODS.items():
            if key in result:
                if self.problem(method, result) is None:
                    return result
                return self.fitted_list(key, method, result)
        if result.keys() & CALL_KEYS and not result.keys() & {"messages", "action", "model"}:
            if self.problem("tools/call", result) is None:
                return result
            return self.fitted_call(result)
        if result.keys() <= {"_meta"}:
            return {**result, "content": []}  # Other empty results may also have a `content`.
        if result.keys() & OTHER_KEYS:
            return result
        rest = {key: value for key, value in result.items() if key != "_meta"}
        return self.fitted_call({**result, "content": [rest]})

    def problem(self, method: str, result: Object) -> ValidationError | None:
        try:
            parse_server_result(method, self.version, result)
        except ValidationError as error:
            return error
        # This version of the protocol does not define the result.
        except (KeyError, ValueError, RecursionError):
            return None
        return None

    def fitted_list(self, key: str, method: str, result: Object) -> Object:
        entries = result[key]
        if isinstance(entries, Mapping):
            entries = list(entries.values())
        kept: list[Any] = []
        whole, reasons = self.fitted_page({**result, key: []}, key, method)
        if not isinstance(entries, list):
            kind = json_kind(entries)
            reasons.append(f"a page of the server's list has no {key}: it is {kind}, not a list.")

        def check(entry: Object) -> ValidationError | None:
            return self.problem(method, {**whole, key: [entry]})

        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            found, reason = fitted_entry(entry, NEEDED[key], check)
            if found is not None:
                kept.append(found)
            else:
                reasons.append(f"{name_of(entry, place)} is left out: {reason}")
        return with_left_out({**whole, key: kept}, reasons[:MOST_REASONS])

    def fitted_page(self, page: Object, key: str, method: str) -> tuple[Object, list[str]]:
        """Remove invalid fields from one page of a list. Return the page, and sentences about the
        removed fields.
        """
        reasons: list[str] = []
        for _ in range(MOST_ODD_FIELDS):
            error = self.problem(method, page)
            if error is None:
                break
            field = str(error.errors(include_url=False, include_input=False)[0]["loc"][0])
            if field == key or field not in page:
                break
            if field == "nextCursor":
                cursor = one_line(as_json(page[field]), CURSOR_CHARACTERS)
                reasons.append(
                    f"the nextCursor of the server's list ({cursor}) is {json_kind(page[field])}, "
                    f"not a string; only the {key} before it are used."
                )
            page = {name: value for name, value in page.items() if name != field}
        return page, reasons

    def fitted_call(self, result: Object) -> Object:
        content = result.get("content")
        parts = content if isinstance(content, list) else [] if content is None else [content]
        fitting: Object = {**result, "content": [self.fitted_part(one, result) for one in parts]}
        structured = result.get("structuredContent")
        if structured is not None and not isinstance(structured, dict):
            del fitting["structuredContent"]
            if not any(part.get("type") == "text" for part in fitting["content"]):
                fitting["content"].append(text_part(as_json(structured)))
        if not isinstance(result.get("isError", False), bool):
            fitting["isError"] = str(result["isError"]).strip().lower() in ("true", "1", "yes")
        for key in ("_meta",):
            if not isinstance(fitting.get(key, {}), dict):
                del fitting[key]
        return fitting

    def fitted_part(self, part: Any, result: Object) -> Object:
        """Return a valid form of a part: the part itself, the part with only its standard fields,
        or a text.
        """
        if isinstance(part, str):
            return text_part(part)
        if not isinstance(part, dict) or not isinstance(part.get("type", ""), str):
            return text_part(as_json(part))
        needed = bare_part(part)
        for one in (part, needed):
            if one is not None and self.problem("tools/call", only(result, one)) is None:
                return one
        return text_part(unread_part(part))


def only(result: Object, part: Object) -> Object:
    """Return the result with `part` as its only content. Other fields of a call's result are
    removed.
    """
    kept = {key: value for key, value in result.items() if key not in (*CALL_KEYS, "_meta")}
    return {**kept, "content": [part]}


def fitted_entry(
    entry: Any, needed: frozenset[str], check: Callable[[Object], ValidationError | None]
) -> tuple[Object | None, str]:
    """Remove invalid optional fields of an entry. Return the entry and "". If a required field is
    invalid, return None and the reason.
    """
    if not isinstance(entry, dict):
        return None, f"it is {json_kind(entry)}, not an object."
    found = dict(entry)
    if "inputSchema" in needed:
        found["inputSchema"] = object_schema(found.get("inputSchema"))
    for _ in range(MOST_ODD_FIELDS):
        error = check(found)
        if error is None:
            return found, ""
        first = error.errors(include_url=False, include_input=False)[0]
        path = first["loc"][2:]
        field = str(path[0]) if path else ""
        if field in needed or field not in found:
            return None, unread_field(found, path, first["type"])
        del found[field]
    return None, "too many of its fields cannot be read."


def unread_field(entry: Object, path: Sequence[str | int], fault: str) -> str:
    """Describe an invalid field. `path` is its path within the entry, and `fault` is pydantic's
    error type.
    """
    if fault == "missing":
        return f"{'.'.join(map(str, path))} is missing."
    value: Any = entry
    names: list[str] = []
    for name in path:  # The last steps may be the types that pydantic tried.
        if not (isinstance(value, list) or (isinstance(value, dict) and name in value)):
            break
        value = value[name]  # type: ignore[index]
        names.append(str(name))
    shown = json_kind(value)
    if isinstance(value, str):
        shown = f"“{one_line(value, VALUE_CHARACTERS)}”"
    wanted = f", not {EXPECTED[fault]}" if fault in EXPECTED else ", which cannot be read"
    return f"{'.'.join(names) or 'it'} is {shown}{wanted}."


def object_schema(schema: Any) -> Any:
    """Return the schema for a tool's arguments, with the type `object` if there is none."""
    if isinstance(schema, str):
        schema = schema_of_text(schema)
    if schema is None or schema is True or schema == []:
        return {"type": "object"}
    if not isinstance(schema, dict):
        return schema
    found = standard_schema(schema)
    kind = found.get("type", "object")
    if kind == "null" or (isinstance(kind, list) and "object" in kind):
        kind = "object"
    return {**found, "type": kind}


def schema_of_text(text: str) -> Any:
    """Parse a schema that a server sends as JSON text. Return any other text unchanged."""
    if len(text) > MOST_CHARACTERS:
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, dict) else text


def bare_part(part: Object) -> Object | None:
    """Return the part with only the standard fields of its type, or None if the type is unknown."""
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in PARTS:
        guessed = next((one for one, keys in PARTS.items() if keys[0] in part), None)
        if kind is not None or guessed is None:
            return None
        kind = guessed
    found: Object = {"type": kind}
    found |= {key: part[key] for key in PARTS[kind] if isinstance(part.get(key), str)}
    if kind in ("image", "audio"):
        found.setdefault("mimeType", f"{kind}/*")
    elif kind == "resource_link":
        found.setdefault("name", found.get("uri", ""))
    elif kind == "resource":
        found["resource"] = bare_resource(part.get("resource"))
    elif not isinstance(part.get("text"), str):
        found["text"] = as_json(part.get("text"))
    return found


def bare_resource(resource: Any) -> Object:
    written = resource if isinstance(resource, dict) else {}
    keys = ("uri", "mimeType", "text", "blob")
    found = {key: written[key] for key in keys if isinstance(written.get(key), str)}
    if "text" not in found and "blob" not in found and written.get("text") is not None:
        found["text"] = as_json(written["text"])
    return {"uri": "", **found}


def unread_part(part: Object) -> str:
    if "type" not in part:
        return shorten_text(as_json(without_binary(part)), PART_CHARACTERS)
    rest = {key: value for key, value in part.items() if key != "type"}
    shown = shorten_text(as_json(without_binary(rest)), PART_CHARACTERS)
    kind = one_line(part["type"])
    return f"(A part of the result has the type {kind!r}, which is not known here: {shown})"


def name_of(entry: Any, place: int) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    named = repr(one_line(name)) if isinstance(name, str) and name else f"number {place + 1}"
    return f"the tool {named}"


def text_part(text: str) -> Object:
    return {"type": "text", "text": text}


def as_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def json_kind(value: Any) -> str:
    kinds = {str: "a text", bool: "a boolean", int: "a number", float: "a number"}
    kinds |= {list: "a list", dict: "an object"}
    return "null" if value is None else kinds.get(type(value), "a value")
