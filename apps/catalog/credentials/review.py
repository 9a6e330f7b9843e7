"""Finds references to unknown secrets, and credentials that would be sent to the wrong server.

Stored keys and secrets are sent only to the servers for which they were entered. Otherwise, an
operator who can edit a deployment could send its key to any server.
"""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

from apps.catalog.credentials.plain import PlainCredential, plain_credentials
from apps.manifest.credentials import CredentialLocation, find_credentials
from apps.manifest.problems import Problem
from apps.manifest.servers import servers_of
from apps.workspace.local.deployments.deployment import service_address
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.secrets.stored_secrets import find_all, server_problem, unknown_secret

TYPE_AGAIN = "The key was stored for another server. Enter it again, or remove it."
STAYS_THERE = (
    "The key of this deployment is for another server. You need a permission to send it here."
)
KEY_PERMISSION = "workspace.change_deployment_keys"
KEY_FIELDS = ("api_key_env", "takes_personal_keys")
"""The fields of a deployment, besides the key itself, that determine which key its service gets."""


def may_keep_key(stored: Deployment, provider: str, base_url: str) -> bool:
    """Return True if the deployment's stored key may be sent to this base URL, because the server
    is unchanged.
    """
    address = service_address(provider, base_url)
    return not stored.api_key or server(stored.address) == server(address)


def has_moved(stored: Deployment, provider: str, base_url: str) -> bool:
    """Return True if the change would send any of the deployment's keys to another server."""
    is_keyed = stored.api_key or stored.api_key_env or stored.takes_personal_keys
    return bool(is_keyed) and server(stored.address) != server(service_address(provider, base_url))


def server(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme.lower(), parts.netloc.lower()


SAVING_MOVES = (
    "is a plain credential. Saving turns it into a secret and enters the secret’s name here."
)
STAYS = "is a plain credential and stays in the row, hidden, because {}. Use a secret."

URL_STARTS = ("http://", "https://", "/")

Problems = tuple[Problem, ...]


def review_credentials(
    document: Any, plain: Sequence[PlainCredential] | None = None
) -> tuple[Problems, Problems]:
    """Return an error for each unknown secret in a manifest or predefined item, and warnings about
    other credentials.

    `plain` contains the document's plain credentials, if the caller has already found them.
    """
    plain = plain_credentials(document) if plain is None else plain
    named = find_credentials(document, "reference")
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
            *misdirected_secrets(
                document, [place for place in named if place.secret in found], found
            ),
        ),
    )


def misdirected_secrets(
    document: Any, places: Collection[CredentialLocation], secrets: dict[str, Secret]
) -> list[Problem]:
    """Return a problem for each secret that would be sent to a server that it does not allow."""
    found = []
    for place in places:
        urls = [s for s in servers_of(document, place.keys) if s.startswith(URL_STARTS)]
        if problem := server_problem(secrets[place.secret], sorted(urls)):
            found.append(Problem(place.path, f"{problem} Add the server to the secret."))
    return found
