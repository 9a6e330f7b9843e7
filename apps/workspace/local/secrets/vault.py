"""Reads secrets from HashiCorp Vault or OpenBao, with version 2 of the KV engine.

A text is cached for a minute, so a rotated secret takes effect without a restart. While Vault is
unavailable, the last text is used for up to an hour.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import msgspec
from django.conf import settings

from apps.environment_variables import current_setting
from apps.errors import EgressRefused
from apps.integers import read_integer
from apps.process_state import AgedCache
from apps.workspace.egress.bodies import read_body
from apps.workspace.egress.clients import HTTPError, find_client
from apps.workspace.egress.guard import Trust
from apps.workspace.local.secrets.sources import SourceFailed, SourceText

logger = logging.getLogger(__name__)

FRESH_SECONDS = 60.0
LAST_SECONDS = 3600.0
ANSWER_SECONDS = 5.0
MOST_BYTES = 1_048_576
"""The size limit in bytes for a response with a secret. Vault's own limit for one secret is
similar.
"""
MOST_DOCUMENTS = 1000
MARGIN_SECONDS = 10.0
"""Tokens are renewed this many seconds before their lease ends."""
REFERENCE = re.compile(r"(?P<path>[\w.-]+(/[\w.-]+)*/data(/[\w.-]+)+)#(?P<key>[^\s#]+)", re.ASCII)
FORM = "Write mount/data/path#key, such as secret/data/apps/tracking#token."


class VaultUnavailable(Exception):
    """Raised if Vault is unavailable, or if its response contains no information about the
    secret.
    """


@dataclass(frozen=True, slots=True)
class VaultDocument:
    """A document in Vault, which maps keys to texts."""

    texts: Mapping[str, Any] = field(repr=False)
    version: int
    read_at: float  # from `time.monotonic`
    problem: str = ""
    """The reason why the document may be outdated, or ""."""


@dataclass(frozen=True, slots=True)
class VaultToken:
    text: str = field(repr=False)
    ends_at: float


_documents: AgedCache[str, VaultDocument] = AgedCache(MOST_DOCUMENTS)
_tokens: AgedCache[str, VaultToken] = AgedCache(1)
"""Caches the tokens of AppRole logins, by role."""


def reference_problem(reference: str) -> str:
    """Return the reason why a reference to Vault cannot be used, or "" if it can."""
    if not settings.VAULT_URL:
        return "This installation has no Vault: VAULT_URL is not set."
    return "" if parts_of(reference) else FORM


def parts_of(reference: str) -> tuple[str, str] | None:
    """Return the path and the key in a reference, or None if it is invalid. Dot segments are
    invalid, because they would lead to another path.
    """
    found = REFERENCE.fullmatch(reference)
    if found is None or {".", ".."} & set(found["path"].split("/")):
        return None
    return found["path"], found["key"]


def known_texts() -> Iterator[str]:
    """Yield the secret texts that this process has read. They are redacted in logs and errors."""
    for document, _ in [*_documents.values.values()]:
        if document is not None:
            yield from (text for text in document.texts.values() if isinstance(text, str))


class Vault:
    async def read(self, reference: str) -> SourceText:
        parts = parts_of(reference)
        if parts is None or not settings.VAULT_URL:
            raise SourceFailed(reference_problem(reference))
        path, key = parts

        async def ask(known: VaultDocument | None) -> VaultDocument | None:
            return await read_again(path, known)

        document = await _documents.renewed(path, FRESH_SECONDS, ask)
        if document is None:
            raise SourceFailed(f"Vault has no secret at {path}.")
        text = document.texts.get(key)
        if not isinstance(text, str) or not text:
            raise SourceFailed(f"Vault has no string under the key {key!r} at {path}.")
        return SourceText(text, document.version, document.problem)


async def read_again(path: str, known: VaultDocument | None) -> VaultDocument | None:
    """Read a document from Vault, and return None if it does not exist. While Vault is unavailable,
    return `known`, unless it is older than `LAST_SECONDS`.

    Raises `SourceFailed` if Vault is unavailable and no document can be returned.
    """
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await read_document(path)
    except (VaultUnavailable, EgressRefused, HTTPError, TimeoutError) as error:
        reason = str(error) or f"no response within {ANSWER_SECONDS:g} seconds."
    if known is None or time.monotonic() - known.read_at > LAST_SECONDS:
        raise SourceFailed(f"Vault cannot be read at {path}: {reason}")
    minutes = round((time.monotonic() - known.read_at) / 60)
    problem = f"Vault cannot be read at {path}: {reason} A value from {minutes} min ago is used."
    logger.warning("%s", problem)
    return replace(known, problem=problem)


async def read_document(path: str) -> VaultDocument | None:
    """Return the document at a path in Vault, or None if it does not exist. Raises
    `VaultUnavailable` and the errors of the HTTP client.
    """
    status, answer = await call("GET", path, await find_token())
    if status == HTTPStatus.FORBIDDEN and not settings.VAULT_TOKEN:
        _tokens.drop(settings.VAULT_ROLE_ID)  # The token may have been revoked.
        status, answer = await call("GET", path, await find_token())
    if status == HTTPStatus.NOT_FOUND:
        return None
    if status != HTTPStatus.OK:
        raise VaultUnavailable(f"it returned status {status}.")
    try:
        found = answer["data"]
        texts, version = found["data"], found["metadata"]["version"]
    except (KeyError, TypeError):
        raise VaultUnavailable("its response is not from a KV version 2 engine.") from None
    if not isinstance(texts, dict) or not isinstance(version, int):
        raise VaultUnavailable("its response is not from a KV version 2 engine.")
    return VaultDocument(texts, version, time.monotonic())


async def find_token() -> str:
    """Return `VAULT_TOKEN` if it is set, otherwise the token from a login with the AppRole. Raises
    `VaultUnavailable` if the login fails.
    """
    if settings.VAULT_TOKEN:
        return current_setting("VAULT_TOKEN")
    role = settings.VAULT_ROLE_ID
    known = _tokens.get(role)
    if known is not None and time.monotonic() < known.ends_at:
        return known.text
    asked_at = time.monotonic()
    login = {"role_id": role, "secret_id": current_setting("VAULT_SECRET_ID")}
    status, answer = await call("POST", "auth/approle/login", "", login)
    auth = answer.get("auth") if status == HTTPStatus.OK and isinstance(answer, dict) else None
    text = auth.get("client_token") if isinstance(auth, dict) else None
    if not isinstance(auth, dict) or not isinstance(text, str):
        raise VaultUnavailable(f"it returned status {status} for the AppRole login.")
    seconds = read_integer(str(auth.get("lease_duration"))) or 0  # 0 means no expiry.
    ends_at = asked_at + seconds - MARGIN_SECONDS if seconds else float("inf")
    _tokens.put(role, VaultToken(text, ends_at))
    return text


async def call(
    method: str, path: str, token: str, body: Mapping[str, str] | None = None
) -> tuple[int, Any]:
    """Send a request to Vault. Return the status, and the JSON of the response or None if it is not
    JSON.
    """
    async with find_client(Trust.VAULT).stream(
        method,
        f"{settings.VAULT_URL}/v1/{path}",
        headers={"X-Vault-Token": token} if token else {},
        json=body,
        timeout=ANSWER_SECONDS,
    ) as response:
        content = await read_body(response, MOST_BYTES)
    try:
        return response.status_code, msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeError):
        return response.status_code, None
