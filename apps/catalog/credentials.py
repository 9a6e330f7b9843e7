"""The review of credentials in documents, and the servers that keys of deployments may be sent to.

Stored keys and secrets are sent only to the servers that they were typed for. Otherwise anybody who
may edit a deployment could have its key sent to a server of theirs.
"""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

from apps.catalog.plain_credentials import PlainCredential, plain_credentials
from apps.manifest.credentials import Place, credential_places
from apps.manifest.problems import Problem
from apps.manifest.servers import servers_of
from apps.workspace.local.deployment import service_address
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.stored_secrets import find_all, server_problem, unknown_secret

TYPE_AGAIN = "The key was stored for another server. Type it again, or remove it."
STAYS_THERE = (
    "The key of this deployment is for another server. It takes a permission to have it sent here."
)
KEY_PERMISSION = "workspace.change_deployment_keys"
KEY_FIELDS = ("api_key_env", "takes_personal_keys")
"""Fields beside the key itself that say which key is sent."""


def may_keep_key(stored: Deployment, provider: str, base_url: str) -> bool:
    """Whether the key of `stored`, as it is in the database, may be sent to that service."""
    address = service_address(provider, base_url)
    return not stored.api_key or server(stored.address) == server(address)


def has_moved(stored: Deployment, provider: str, base_url: str) -> bool:
    """Whether a service that is sent a key of any kind would be another one."""
    is_keyed = stored.api_key or stored.api_key_env or stored.takes_personal_keys
    return bool(is_keyed) and server(stored.address) != server(service_address(provider, base_url))


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
    named = credential_places(document, "reference")
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
