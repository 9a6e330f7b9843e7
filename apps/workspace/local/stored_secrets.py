"""What a credential says, asked for where a request is built and given for that request alone.

The row is read each time: a rotated secret is used by the next request of every process, and its
text stays in no cache. A secret goes to the servers that it is meant for and to no other, whoever
wrote the manifest that names it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from channels.db import database_sync_to_async

from apps.errors import ToolError
from apps.manifest.credentials import origin_of
from apps.manifest.secrets import Credential
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets import UnreadableSecret
from apps.workspace.local.servers import is_among

ASK = "An administrator of this installation can mend it."


class SecretRefused(ToolError):
    """A secret that is not there, cannot be read, or is not for that server."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem} {ASK}")
        self.is_lasting = True


@dataclass(frozen=True, slots=True)
class Revealed:
    """`version` is that of the secret's row, 0 for what was typed into the manifest."""

    text: str = field(repr=False)
    version: int = 0


async def reveal(credential: Credential, *urls: str) -> Revealed:
    """What a credential says, for requests to these addresses. Raises `SecretRefused`."""
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
    """Why a secret is not sent there, "" if it may be."""
    if secret.is_for_any_server:
        return ""
    refused = [origin_of(url) for url in urls if not is_among(url, secret.servers)]
    return f"The secret {secret.name!r} is not meant for {refused[0]}." if refused else ""


async def versions(names: Collection[str]) -> tuple[tuple[str, int], ...]:
    """Of each secret what changes when it does, 0 for one that is not there."""
    if not names:
        return ()
    found: dict[str, Secret] = await database_sync_to_async(find_all)(names)
    return tuple((name, found[name].version if name in found else 0) for name in sorted(names))


def find_all(names: Collection[str]) -> dict[str, Secret]:
    """Those that there are, by name."""
    return {secret.name: secret for secret in Secret.objects.filter(name__in=names)}


@dataclass(frozen=True, slots=True)
class Need:
    """The credential at `path` of a manifest will be sent to these addresses."""

    path: str
    credential: Credential
    urls: tuple[str, ...]


async def refusals(needs: Sequence[Need]) -> dict[str, str]:
    """What will not be sent, known before anything is: the path of each, and why."""
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
