"""Converts a pasted curl command to a REST tool, without executing the command.

The tool refers to a secret instead of the credential in the command. The user decides whether to
store the credential as this secret.
"""

import json
import re
from argparse import Namespace
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from apps.console.studio.tool_sources.curl_options import DATA, read_command
from apps.console.studio.tool_sources.rest_tools import RestParameter, function_name, rest_tool
from apps.console.studio.tool_sources.security_schemes import SchemeAuthorization, secret_name
from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.manifest.secrets import SECRET, reads_as_credential
from apps.manifest.validation.json_document import document_problems
from apps.workspace.egress.urls import AddressInvalid, read_url

BORING = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "connection",
        "content-length",
        "content-type",
        "host",
        "origin",
        "referer",
        "user-agent",
    }
)
METHODS = frozenset({"get", "post", "put", "delete"})


@dataclass(frozen=True, slots=True)
class CurlTool:
    """A REST tool from a curl command."""

    base_url: str
    tool: Mapping[str, Any] = field(repr=False)
    authorization: SchemeAuthorization | None = None
    credential: str = field(default="", repr=False)
    """The credential in the command, or "". Only the user who pasted it sees it."""
    notes: tuple[str, ...] = ()


def read_curl(text: str) -> CurlTool:
    """Parse a curl command. Raises `SourceInvalid` if no tool can send the request."""
    command = read_command(text)
    addresses = [*command.url, *command.addresses]
    if len(addresses) != 1:
        raise SourceInvalid(f"The command has {len(addresses)} URLs. Use a command with one URL.")
    url = addresses[0] if "://" in addresses[0] else f"https://{addresses[0]}"
    try:
        parts = urlsplit(url)
        bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        read_url(bare)
    except (AddressInvalid, ValueError) as error:
        raise SourceInvalid(f"The command's URL cannot be used: {error}") from None
    notes: list[str] = []
    fields = dict(body_fields(command, notes))
    method = method_of(command, has_body=bool(fields))
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if command.get:
        query, fields = {**query, **{k: as_text(v) for k, v in fields.items()}}, {}
    elif fields and method in {"get", "delete"}:
        raise SourceInvalid("Tools can send a body only with POST and PUT.")
    title = parts.hostname or "service"
    found = Findings(title)
    if user := command.user or unquote(parts.netloc.rpartition("@")[0]):
        found.basic(user)
    if command.bearer:
        found.bearer(command.bearer)
    headers = headers_of(command, found, notes)
    parameters = [
        *found.parameters("query", query),
        *found.parameters("header", headers),
        *found.parameters("body", fields),
    ]
    path = parts.path or "/"
    placeholders = [
        RestParameter(key, "url", {"type": "string"}, is_required=True)
        for key in dict.fromkeys(re.findall(r"\{([^{}/?#]+)\}", path))
    ]
    last = [part for part in path.split("/") if part and "{" not in part]
    name = function_name("_".join((method, *last[-2:])), ())
    tool = rest_tool(name, f"{method.upper()} {path}", method, path, [*placeholders, *parameters])
    return CurlTool(bare, tool, found.authorization, found.credential, (*notes, *found.notes))


def method_of(command: Namespace, *, has_body: bool) -> str:
    named = (command.request or "").lower()
    method = (
        "head" if command.head else named or ("post" if has_body and not command.get else "get")
    )
    if method not in METHODS:
        raise SourceInvalid(
            "The command has an unsupported method. Tools can use GET, POST, PUT and DELETE."
        )
    return method


def body_fields(command: Namespace, notes: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each field in the request body, which may be JSON or a form."""
    given = {name: getattr(command, f"data{name}") for name in DATA}
    if any(text.startswith("@") for texts in given.values() for text in texts):
        raise SourceInvalid("The command reads its body from a file. Paste the content instead.")
    forms = [text for name in ("-F", "--form", "--form-string") for text in given.pop(name)]
    for text in forms:
        key, _, value = text.partition("=")
        if value.startswith(("@", "<")):
            raise SourceInvalid("The command sends a file, but tools can send only JSON.")
        yield key, value.partition(";type=")[0]
    texts = [text for found in given.values() for text in found]
    whole = "&".join(texts) if len(texts) > 1 else "".join(texts)
    if whole.lstrip().startswith(("{", "[")):
        try:
            body = json.loads(whole)
        except (ValueError, RecursionError):
            raise SourceInvalid("The body of the command is not valid JSON.") from None
        if document_problems(body):
            raise SourceInvalid("The body is not a JSON object, so tools cannot send it.")
        yield from body.items()
        return
    yield from parse_qsl(whole, keep_blank_values=True)
    if (forms or whole) and not command.get:
        notes.append("The command sends a form. The tool sends JSON, which the service may refuse.")


def headers_of(command: Namespace, found: "Findings", notes: list[str]) -> dict[str, str]:
    kept = {}
    for line in command.header:
        name, _, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if name.lower() == "authorization":
            found.authorize(value)
        elif name.lower() == "cookie":
            notes.append("Cookies are omitted, because tools send none.")
        elif name and value and name.lower() not in BORING:
            kept[name] = value
    return kept


class Findings:
    """Collects the first credential in a curl command, and notes for the user."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.authorization: SchemeAuthorization | None = None
        self.credential = ""
        self.notes: list[str] = []

    def keep(self, kind: str, word: str, credential: str, written: dict[str, Any]) -> None:
        if self.authorization is not None:
            self.notes.append("The command has several credentials; only the first is used.")
            return
        secret = secret_name(self.title, word)
        field_name = {"basic": "password", "bearer": "token", "api_key": "key"}[kind]
        whole = {"type": kind, field_name: {SECRET: secret}, **written}
        self.authorization, self.credential = SchemeAuthorization(kind, whole, secret), credential

    def basic(self, user: str) -> None:
        name, _, password = user.partition(":")
        self.keep("basic", "password", password, {"username": name})

    def bearer(self, token: str) -> None:
        self.keep("bearer", "token", token, {})

    def authorize(self, value: str) -> None:
        scheme, _, rest = value.partition(" ")
        if scheme.lower() == "bearer" and rest:
            self.bearer(rest.strip())
        elif scheme.lower() == "basic" and rest:
            try:
                self.basic(b64decode(rest.strip(), validate=True).decode())
            except ValueError:
                self.notes.append("The header Authorization cannot be read and is omitted.")
        else:
            self.keep("api_key", "key", value, {"name": "Authorization", "location": "header"})

    def parameters(self, where: str, values: Mapping[str, Any]) -> Iterator[RestParameter]:
        for key, value in values.items():
            if isinstance(value, str) and value and reads_as_credential(key):
                self.keep("api_key", "key", value, {"name": key, "location": where})
            elif where == "header":
                yield RestParameter(key, where, {"type": None, "const": value})
            else:
                kept = self.without_credentials(value)
                yield RestParameter(key, where, schema_of(kept))

    def without_credentials(self, value: Any) -> Any:
        """Replace the strings in the value that look like credentials with ""."""
        if isinstance(value, list):
            return [self.without_credentials(one) for one in value]
        if not isinstance(value, dict):
            return value
        hidden = {
            k for k, v in value.items() if isinstance(v, str) and v and reads_as_credential(k)
        }
        if hidden:
            left_out = ", ".join(sorted(hidden))
            self.notes.append(
                f"The value of {left_out} in the body is omitted, because it is a credential."
            )
        return {
            key: "" if key in hidden else self.without_credentials(part)
            for key, part in value.items()
        }


def schema_of(value: Any) -> dict[str, Any]:
    """Return a JSON schema for a parameter. Its default is the value in the command."""
    match value:
        case bool():
            return {"type": "boolean", "default": value}
        case int() | float():
            return {"type": "integer" if isinstance(value, int) else "number", "default": value}
        case list():
            inner = nested_object(value[0]) if value else {"type": "string"}
            return {"type": "array", "items": inner, "description": "A list.", "default": value}
        case dict():
            return {**nested_object(value), "default": value}
        case None:
            return {"type": "string"}
        case _:
            return {"type": "string", "default": value}


def nested_object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        properties = {key: nested_object(part) for key, part in value.items()}
        return {"type": "object", "properties": properties, "description": "An object."}
    found = schema_of(value)
    found.pop("default", None)
    return found


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
