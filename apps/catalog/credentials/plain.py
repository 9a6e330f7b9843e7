"""Finds the plain credentials in a document, and determines whether each can become a secret."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, pairwise
from typing import Any

from apps.manifest.credentials import CredentialLocation, find_credentials
from apps.manifest.json_places import Keys, replace_values, value_at
from apps.manifest.json_text import objects_in
from apps.manifest.names import localize_text
from apps.manifest.problems import write_path
from apps.manifest.secrets import SECRET
from apps.manifest.servers import ADDRESSES, servers_of
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.secrets.servers import MOST_SERVERS, read_server

PARAMETERS = ("deployment", "parameters")
"""The path of deployment parameters. They are sent unchanged, so they cannot refer to secrets."""
ELSEWHERE = "references to this item override its URL"


@dataclass(frozen=True, slots=True)
class PlainCredential:
    """A plain credential in a document."""

    keys: Keys
    value: Any = field(repr=False)
    stem: str
    """The preferred name of the credential's secret."""
    servers: tuple[str, ...] = ()
    """The servers to which the credential is sent."""
    problem: str = ""
    """The reason why the credential cannot become a secret, or ""."""

    @property
    def path(self) -> str:
        return write_path(self.keys)


def plain_credentials(document: Any, called: str = "") -> list[PlainCredential]:
    """Return the plain credentials in a manifest, or in the predefined item named `called`, in
    document order.
    """
    places = find_credentials(document, "plain")
    return [plain_credential(document, place, called) for place in places]


def plain_credential(document: Any, place: CredentialLocation, called: str) -> PlainCredential:
    keys, value = place.keys, place.value
    stem = proposed_name(document, keys, called)
    try:
        check_value(value)
        return PlainCredential(keys, value, stem, readable_servers(document, keys))
    except ValueError as error:
        return PlainCredential(keys, value, stem, problem=str(error))


def readable_servers(document: Any, keys: Keys) -> tuple[str, ...]:
    """Return the servers to which the credential at the path `keys` is sent, in the form that a
    secret stores. Raises `ValueError` if the credential cannot become a secret.
    """
    if ("orchestrator" in document and keys[0] != "tool_sets") or PARAMETERS in pairwise(keys):
        raise ValueError("only credentials of toolsets can become secrets")
    written = sorted(servers_of(document, keys))
    if not written or any(server.startswith("registered ") for server in written):
        raise ValueError("the document does not define the server that the credential is sent to")
    if any(server.startswith("predefined ") for server in written):
        raise ValueError("the credential is sent to a server that is defined in predefined content")
    if "/" in written and "rest_api_method_info" in document:
        raise ValueError(
            "the tool has no host, so the credential is sent to the server of the toolset"
        )
    if len(written) > MOST_SERVERS:
        raise ValueError(f"the credential is sent to too many servers; the limit is {MOST_SERVERS}")
    return tuple(dict.fromkeys(map(read_server, written)))


def check_value(value: Any) -> None:
    """Raise `ValueError` if this value cannot be stored as a secret."""
    if not isinstance(value, str):
        raise ValueError("only a string can be a secret")
    if problem := header_value_problem(value):
        raise ValueError(f"a secret is sent in headers, and {problem}".rstrip("."))


def proposed_name(document: Any, keys: Keys, called: str = "") -> str:
    """Return a name for the credential's secret, such as `tracking-key` for the field `key` of the
    toolset Tracking.
    """
    inner = value_at(document, keys[:2]) if keys[0] == "tool_sets" else document
    named = inner.get("name") or inner.get("template_name") if isinstance(inner, dict) else ""
    title = localize_text(named) if isinstance(named, str | dict) else ""
    words = f"{title or called} {keys[-2] if keys[-1] == 'const' else keys[-1]}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:90] or "secret"


def free_secret_name(stem: str, used_names: Collection[str]) -> str:
    """Return `stem` as the name of a new secret, followed by a number if the name is used."""
    numbered = (f"{stem}-{number}" for number in count(2))
    return next(name for name in chain([stem], numbered) if name not in used_names)


def with_secrets(document: Any, names: Mapping[Keys, str]) -> Any:
    return replace_values(document, {keys: {SECRET: name} for keys, name in names.items()})


def overrides_url(document: Any, name: str) -> bool:
    """Return True if the document refers to the predefined item `name` and overrides its URL."""
    return any(
        item.get("template_name") == name and has_url(item.get("override"))
        for _, item in objects_in(document)
    )


def has_url(document: Any) -> bool:
    return any(ADDRESSES & item.keys() for _, item in objects_in(document))
