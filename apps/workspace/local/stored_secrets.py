"""Credentials in plain text, read where a request is built and for that request alone.

The row is read each time: every process uses a rotated secret in its next request, and no cache
holds the text. A secret is sent to its own servers only, whichever manifest names it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from channels.db import database_sync_to_async

from apps.errors import ToolError
from apps.manifest.secrets import Credential
from apps.manifest.servers import origin_of
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets import UnreadableSecret
from apps.workspace.local.servers import is_among

ASK = "An administrator of this installation can mend it."


class SecretRefused(ToolError):
    """The secret is missing, unreadable, or not meant for that server."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem} {ASK}", is_lasting=True)


@dataclass(frozen=True, slots=True)
class Revealed:
    """`version` is that of the secret's row, 0 for a credential typed into the manifest."""

    text: str = field(repr=False)
    version: int = 0


async def reveal(credential: Credential, *urls: str) -> Revealed:
    """The text of a credential, for requests to these addresses. Raises `SecretRefused`."""
    if not credential.secret:
        return Revealed(credential.text)
    row: Secret | None = await database_sync_to_async(look_up)(credential.secret)
    if row is None:
        raise SecretRefused(f"There is no secret {credential.secret!r}.")
    if problem := server_problem(row, urls):
        raise SecretRefused(problem)
    if isinstance(row.value, UnreadableSecret) or not row.value:
        raise SecretRefused(f"The secret {row.name!r} cannot be read.")
    return Revealed(row.value, row.version)


def look_up(name: str) -> Secret | None:
    return Secret.objects.filter(name=name).first()


def server_problem(secret: Secret, urls: Collection[str]) -> str:
    """Why the secret may not be sent to these addresses; "" if it may."""
    if secret.is_for_any_server:
        return ""
    refused = [origin_of(url) for url in urls if not is_among(url, secret.servers)]
    return f"The secret {secret.name!r} is not meant for {refused[0]}." if refused else ""


async def versions(names: Collection[str]) -> tuple[tuple[str, int], ...]:
    """Name and version of each secret; 0 for a missing one."""
    if not names:
        return ()
    found: dict[str, Secret] = await database_sync_to_async(find_all)(names)
    return tuple((name, found[name].version if name in found else 0) for name in sorted(names))


def find_all(names: Collection[str]) -> dict[str, Secret]:
    return {secret.name: secret for secret in Secret.objects.filter(name__in=names)}


@dataclass(frozen=True, slots=True)
class Need:
    """The credential at `path` of a manifest will be sent to these addresses."""

    path: str
    credential: Credential
    urls: tuple[str, ...]


async def refusals(needs: Sequence[Need]) -> dict[str, str]:
    """The credentials that may not be sent: path in the manifest → reason."""
    if not any(need.credential.secret for need in needs):
        return {}
    refused: dict[str, str] = await database_sync_to_async(find_refusals)(needs)
    return refused


def find_refusals(needs: Sequence[Need]) -> dict[str, str]:
    named = [need for need in needs if need.credential.secret]
    found = find_all({need.credential.secret for need in named})
    refused = {}
    for need in named:
        secret = found.get(need.credential.secret)
        if secret is None:
            refused[need.path] = f"there is no secret {need.credential.secret!r}. {ASK}"
        elif problem := server_problem(secret, need.urls):
            refused[need.path] = f"{problem} {ASK}"
    return refused


def unknown_secret(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    return f"there is no secret {name!r}{hint}"
