"""The plain credentials of a document, as far as they can become secrets."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, pairwise
from typing import Any

from apps.catalog.json_text import objects_in
from apps.manifest.credentials import Place, credential_places
from apps.manifest.names import localized
from apps.manifest.places import Keys, replaced, value_at
from apps.manifest.problems import write
from apps.manifest.secrets import SECRET
from apps.manifest.servers import ADDRESSES, servers_of
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.servers import MOST_SERVERS, read_server

PARAMETERS = ("deployment", "parameters")
"""Parameters of a deployment that is a tool are sent unchanged, so they are no credentials."""
ELSEWHERE = "what refers to this item gives it another address"


@dataclass(frozen=True, slots=True)
class PlainCredential:
    """`servers` are the ones it is sent to, `stem` is the wanted name of its secret.

    `problem` says why it cannot be a secret, or is "".
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
    """In the order of the document, a manifest or an item; `called` is the item's name."""
    places = credential_places(document, "plain")
    return [plain_credential(document, place, called) for place in places]


def plain_credential(document: Any, place: Place, called: str) -> PlainCredential:
    keys, value = place.keys, place.value
    stem = proposed_name(document, keys, called)
    try:
        check_value(value)
        return PlainCredential(keys, value, stem, readable_servers(document, keys))
    except ValueError as error:
        return PlainCredential(keys, value, stem, problem=str(error))


def readable_servers(document: Any, keys: Keys) -> tuple[str, ...]:
    """The servers that the credential is sent to, as a secret stores them. Raises ValueError."""
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
    """The names of the toolset and the field, such as `tracking-key`."""
    inner = value_at(document, keys[:2]) if keys[0] == "tool_sets" else document
    named = inner.get("name") or inner.get("template_name") if isinstance(inner, dict) else ""
    title = localized(named) if isinstance(named, str | dict) else ""
    words = f"{title or called} {keys[-2] if keys[-1] == 'const' else keys[-1]}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:90] or "secret"


def free_name(stem: str, taken: Collection[str]) -> str:
    """The stem, with a number where it is taken."""
    numbered = (f"{stem}-{number}" for number in count(2))
    return next(name for name in chain([stem], numbered) if name not in taken)


def with_secrets(document: Any, names: Mapping[Keys, str]) -> Any:
    return replaced(document, {keys: {SECRET: name} for keys, name in names.items()})


def gives_address(document: Any, name: str) -> bool:
    """Whether a document refers to that predefined item and overrides its address."""
    return any(
        item.get("template_name") == name and has_address(item.get("override"))
        for _, item in objects_in(document)
    )


def has_address(document: Any) -> bool:
    return any(ADDRESSES & item.keys() for _, item in objects_in(document))
