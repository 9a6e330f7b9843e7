"""Reads the plain text of credentials when a request needs it, and only for that request.

The row is read each time, so every process uses a rotated secret in its next request. Only texts
from Vault are cached. A secret is sent only to its own servers, regardless of the manifest that
refers to it.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from channels.db import database_sync_to_async

from apps.errors import ToolError
from apps.manifest.secrets import Credential
from apps.manifest.servers import origin_of
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets.field import UnreadableSecret
from apps.workspace.local.secrets.servers import is_among
from apps.workspace.local.secrets.sources import SecretSource, SourceFailed
from apps.workspace.local.secrets.vault import Vault

logger = logging.getLogger(__name__)

VAULT: SecretSource = Vault()
MOST_VERSIONS = 1_000_000
"""An upper bound for versions in Vault, so that one number can combine the version in Vault and the
version of the row.
"""
ASK = "An administrator of this installation can fix it."


class SecretRefused(ToolError):
    """Raised if a secret is missing, cannot be read, or may not be sent to a server."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem} {ASK}", is_lasting=True)


@dataclass(frozen=True, slots=True)
class RevealedSecret:
    """A credential in plain text."""

    text: str = field(repr=False)
    version: int = 0
    """A number that changes with the secret, or 0 for a credential in the manifest itself."""


async def reveal(credential: Credential, *urls: str) -> RevealedSecret:
    """Return the text of a credential for requests to these URLs. Raises `SecretRefused` if the
    credential may not be sent there or cannot be read.
    """
    if not credential.secret:
        return RevealedSecret(credential.text)
    row: Secret | None = await database_sync_to_async(look_up)(credential.secret)
    if row is None:
        raise SecretRefused(f"The secret {credential.secret!r} does not exist.")
    if problem := server_problem(row, urls):
        raise SecretRefused(problem)
    if isinstance(row.value, UnreadableSecret) or not row.value:
        raise SecretRefused(f"The secret {row.name!r} cannot be read.")
    if not row.is_in_vault:
        return RevealedSecret(row.value, row.version)
    try:
        found = await VAULT.read(row.value)
    except SourceFailed as error:
        logger.warning("The secret %s: %s", row.name, error)
        raise SecretRefused(f"The secret {row.name!r} cannot be read. {error}") from None
    if problem := header_value_problem(found.text):
        raise SecretRefused(f"The secret {row.name!r} is sent in headers, and {problem}")
    return RevealedSecret(found.text, version_in_vault(row, found.version))


def version_in_vault(row: Secret, version: int) -> int:
    """Return a number that changes whenever the secret's row or its text in Vault changes.
    `version` is the text's version in Vault.
    """
    return row.version * MOST_VERSIONS + version


def look_up(name: str) -> Secret | None:
    return Secret.objects.filter(name=name).first()


def server_problem(secret: Secret, urls: Collection[str]) -> str:
    """Return the reason why the secret may not be sent to these URLs, or "" if it may be sent."""
    if secret.is_for_any_server:
        return ""
    refused = [origin_of(url) for url in urls if not is_among(url, secret.servers)]
    return f"The secret {secret.name!r} may not be sent to {refused[0]}." if refused else ""


async def versions(names: Collection[str]) -> tuple[tuple[str, int], ...]:
    """Return the name and version of each secret; the version is 0 for a missing secret."""
    if not names:
        return ()
    found: dict[str, Secret] = await database_sync_to_async(find_all)(names)
    return tuple([(name, await current_version(found.get(name))) for name in sorted(names)])


async def problem_in_vault(row: Secret) -> str:
    """Return the reason why the secret's value in Vault is unavailable or outdated, or "" if it is
    current.
    """
    try:
        return (await VAULT.read(row.value)).problem
    except SourceFailed as error:
        return str(error)


async def current_version(row: Secret | None) -> int:
    if row is None or not row.is_in_vault:
        return row.version if row is not None else 0
    try:
        return version_in_vault(row, (await VAULT.read(row.value)).version)
    except SourceFailed:
        return version_in_vault(row, 0)  # Reading the text will report the reason.


def find_all(names: Collection[str]) -> dict[str, Secret]:
    return {secret.name: secret for secret in Secret.objects.filter(name__in=names)}


@dataclass(frozen=True, slots=True)
class SecretNeed:
    """A credential at the `path` in a manifest, and the URLs to which it will be sent."""

    path: str
    credential: Credential
    urls: tuple[str, ...]


async def unsendable_credentials(needs: Sequence[SecretNeed]) -> dict[str, str]:
    """Map the manifest paths of credentials to the reasons why they may not be sent to their
    servers.
    """
    if not any(need.credential.secret for need in needs):
        return {}
    refused: dict[str, str] = await database_sync_to_async(find_refusals)(needs)
    return refused


def find_refusals(needs: Sequence[SecretNeed]) -> dict[str, str]:
    named = [need for need in needs if need.credential.secret]
    found = find_all({need.credential.secret for need in named})
    refused = {}
    for need in named:
        secret = found.get(need.credential.secret)
        if secret is None:
            refused[need.path] = f"the secret {need.credential.secret!r} does not exist. {ASK}"
        elif problem := server_problem(secret, need.urls):
            refused[need.path] = f"{problem} {ASK}"
    return refused


def unknown_secret(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    return f"the secret {name!r} does not exist{hint}"
