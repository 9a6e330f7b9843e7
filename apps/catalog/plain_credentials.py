"""Plain credentials of a document: which can be secrets, under which names and for which servers.

Nothing here touches the database.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from apps.manifest.credentials import (
    ADDRESSES,
    Keys,
    credential_places,
    replaced,
    servers_of,
    value_at,
)
from apps.manifest.names import localized
from apps.manifest.problems import write
from apps.manifest.secrets import SECRET
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.servers import MOST_SERVERS, read_server

PARAMETERS = ("deployment", "parameters")
"""Of a deployment that is a tool: they go to it as they are written, whatever they are called."""
ELSEWHERE = "what refers to this item gives it another address"


@dataclass(frozen=True, slots=True)
class PlainCredential:
    """`servers` are those that it is sent to, `stem` is what a secret of it is called after.

    `problem` says why it cannot be a secret; it is "" for one that can.
    """

    keys: Keys
    value: Any = field(repr=False)
    stem: str
    servers: tuple[str, ...] = ()
    problem: str = ""

    @property
    def path(self) -> str:
        return write(self.keys)


def plain_credentials(document: Any, called: str = "") -> list[PlainCredential]:
    """Of a manifest or an item, in its order. It is `called` so where it has no name."""
    places = [place for place in credential_places(document) if place.kind == "plain"]
    return [plain_credential(document, place.keys, called) for place in places]


def plain_credential(document: Any, keys: Keys, called: str) -> PlainCredential:
    value, stem = value_at(document, keys), proposed_name(document, keys, called)
    try:
        check_value(value)
        return PlainCredential(keys, value, stem, readable_servers(document, keys))
    except ValueError as error:
        return PlainCredential(keys, value, stem, problem=str(error))


def readable_servers(document: Any, keys: Keys) -> tuple[str, ...]:
    """The servers that the credential is sent to, as secrets have them. Raises ValueError."""
    if ("orchestrator" in document and keys[0] != "tool_sets") or PARAMETERS in pairwise(keys):
        raise ValueError("what stands there is no credential of a toolset")
    written = sorted(servers_of(document, keys))
    if not written or any(server.startswith("registered ") for server in written):
        raise ValueError("the document does not say which server it is sent to")
    if any(server.startswith("predefined ") for server in written):
        raise ValueError("the server that it is sent to is that of predefined content")
    if "/" in written and "rest_api_method_info" in document:
        raise ValueError("the server of a tool without a host is that of its toolset")
    if len(written) > MOST_SERVERS:
        raise ValueError(f"it is sent to more than {MOST_SERVERS} servers")
    return tuple(dict.fromkeys(map(read_server, written)))


def check_value(value: Any) -> None:
    """Raises ValueError."""
    if not isinstance(value, str):
        raise ValueError("only a text can be a secret")
    if problem := header_value_problem(value):
        raise ValueError(f"a secret is sent in headers, and {problem}".rstrip("."))


def proposed_name(document: Any, keys: Keys, called: str = "") -> str:
    """After the toolset and the field, such as `tracking-key`."""
    inner = value_at(document, keys[:2]) if keys[0] == "tool_sets" else document
    named = inner.get("name") or inner.get("template_name") if isinstance(inner, dict) else ""
    title = localized(named) if isinstance(named, str | dict) else ""
    words = f"{title or called} {keys[-2] if keys[-1] == 'const' else keys[-1]}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:90] or "secret"


def free_name(stem: str, taken: Collection[str]) -> str:
    """The stem, with a number where it is taken."""
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    return name


def with_secrets(document: Any, names: Mapping[Keys, str]) -> Any:
    """The document with names of secrets at some places."""
    return replaced(document, {keys: {SECRET: name} for keys, name in names.items()})


def gives_address(document: Any, name: str) -> bool:
    """Whether a document refers to the predefined item of that name and changes its address."""
    if isinstance(document, list):
        return any(gives_address(member, name) for member in document)
    if not isinstance(document, dict):
        return False
    if document.get("template_name") == name and has_address(document.get("override")):
        return True
    return any(gives_address(member, name) for member in document.values())


def has_address(value: Any) -> bool:
    members = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        if ADDRESSES & value.keys():
            return True
        members = tuple(value.values())
    return any(map(has_address, members))
