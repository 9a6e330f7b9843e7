"""Credentials of documents and deployments: review, and plain ones that can become secrets.

Stored keys and secrets are sent only to the servers that they were typed for. Otherwise anybody who
may edit a deployment could have its key sent to a server of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from apps.manifest.credentials import (
    ADDRESSES,
    Keys,
    Place,
    credential_places,
    replaced,
    servers_of,
    value_at,
)
from apps.manifest.names import localized
from apps.manifest.problems import Problem, write
from apps.manifest.secrets import SECRET
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.servers import MOST_SERVERS, read_server
from apps.workspace.local.stored_secrets import find_all, server_problem, unknown_secret

TYPE_AGAIN = "The key was stored for another server. Type it again, or remove it."


def may_keep_key(stored: Deployment, base_url: str) -> bool:
    """Whether the key of `stored`, as it is in the database, may be sent to that address."""
    return not stored.api_key or server(stored.base_url) == server(base_url)


def server(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme.lower(), parts.netloc.lower()


SAVING_MOVES = "is a plain credential. Saving makes a secret of it, which is then named here."
STAYS = "is a plain credential and stays in the row, hidden, because {}. Name a secret."

URL_STARTS = ("http://", "https://", "/")

Problems = tuple[Problem, ...]


def review_credentials(
    document: Any, plain: Sequence[PlainCredential] | None = None
) -> tuple[Problems, Problems]:
    """The unknown secrets of a manifest or an item, and warnings about its other credentials.

    `plain` are its plain credentials, by default as `plain_credentials` finds them.
    """
    plain = plain_credentials(document) if plain is None else plain
    named = [place for place in credential_places(document) if place.kind == "reference"]
    found = find_all({place.secret for place in named})
    missing = [place for place in named if place.secret not in found]
    known = set(Secret.objects.values_list("name", flat=True)) if missing else set()
    return (
        tuple(Problem(p.path, unknown_secret(p.secret, known)) for p in missing),
        (
            *(
                Problem(c.path, STAYS.format(c.problem) if c.problem else SAVING_MOVES)
                for c in plain
            ),
            *elsewhere(document, [place for place in named if place.secret in found], found),
        ),
    )


def elsewhere(
    document: Any, places: Collection[Place], secrets: dict[str, Secret]
) -> list[Problem]:
    """A problem for each secret that would be sent to servers that it is not meant for."""
    found = []
    for place in places:
        urls = [s for s in servers_of(document, place.keys) if s.startswith(URL_STARTS)]
        if problem := server_problem(secrets[place.secret], sorted(urls)):
            found.append(Problem(place.path, f"{problem} Add the server to the secret."))
    return found


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
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    return name


def with_secrets(document: Any, names: Mapping[Keys, str]) -> Any:
    return replaced(document, {keys: {SECRET: name} for keys, name in names.items()})


def gives_address(document: Any, name: str) -> bool:
    """Whether a document refers to that predefined item and overrides its address."""
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
