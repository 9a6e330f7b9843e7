"""A stored key goes to the server that it was typed for, and nowhere else.

Otherwise whoever may edit a deployment could read its key: by having it sent to a server of theirs.
What stands for a key in a document is reviewed here by the same rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

from apps.catalog.plain_credentials import PlainCredential, plain_credentials
from apps.manifest.credentials import Place, credential_places, servers_of
from apps.manifest.problems import Problem
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.stored_secrets import find_all, server_problem, unknown_secret

TYPE_AGAIN = "The key was stored for another server. Type it again, or remove it."


def may_keep_key(stored: Deployment, base_url: str) -> bool:
    """Whether the stored key may be used at that address. `stored` is as it is in the database."""
    return not stored.api_key or server(stored.base_url) == server(base_url)


def server(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme.lower(), parts.netloc.lower()


SAVING_MOVES = "is a plain credential. Saving makes a secret of it, which is then named here."
STAYS = "is a plain credential and stays in the row, hidden, because {}. Name a secret."

Problems = tuple[Problem, ...]


def review_credentials(
    document: Any, plain: Sequence[PlainCredential] | None = None
) -> tuple[Problems, Problems]:
    """Of a manifest or an item: names of secrets that there are not, and what is doubtful.

    The `plain` ones are those of the document, unless more is known of them.
    """
    plain = plain_credentials(document) if plain is None else plain
    named = [place for place in credential_places(document) if place.kind == "reference"]
    found = find_all({place.secret for place in named})
    missing = [place for place in named if place.secret not in found]
    known = set(Secret.objects.values_list("name", flat=True)) if missing else set()
    return (
        tuple(Problem(p.path, unknown_secret(p.secret, known)) for p in missing),
        (
            *(Problem(credential.path, doubt(credential)) for credential in plain),
            *elsewhere(document, [place for place in named if place.secret in found], found),
        ),
    )


def doubt(plain: PlainCredential) -> str:
    return STAYS.format(plain.problem) if plain.problem else SAVING_MOVES


def elsewhere(
    document: Any, places: Collection[Place], secrets: dict[str, Secret]
) -> list[Problem]:
    """Secrets at places from where they would be sent to servers that they are not meant for."""
    found = []
    for place in places:
        urls = [server for server in servers_of(document, place.keys) if is_address(server)]
        if problem := server_problem(secrets[place.secret], sorted(urls)):
            found.append(Problem(place.path, f"{problem} Add the server to the secret."))
    return found


def is_address(server: str) -> bool:
    return server.startswith(("http://", "https://", "/"))
