"""Reads OAuth client ID metadata documents. A client with such a document uses the document's URL
as its ID.
"""

import asyncio
import time
from typing import Any

import msgspec
from asgiref.sync import async_to_sync
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext

from apps.accounts.allauth_internals import described_client, may_read_document
from apps.accounts.oauth.clients import prepare_client
from apps.accounts.oauth.rows import Program
from apps.errors import EgressRefused
from apps.workspace.egress.bodies import read_body
from apps.workspace.egress.clients import HTTPError, InvalidURL, find_client, parse_url
from apps.workspace.egress.guard import Trust

MOST_BYTES = 8192
SECONDS = 5.0
"""The timeout in seconds for the whole response."""
FRESH_SECONDS = 3600
READ_AT = "read_at"
"""The key in a client's `data` for the Unix time at which its document was last read."""
COLUMNS = (
    *("name", "type", "scopes", "default_scopes"),
    *("grant_types", "redirect_uris", "response_types"),
)
UNUSABLE = (
    *(ValidationError, EgressRefused, HTTPError, InvalidURL, TimeoutError),
    *(ValueError, RecursionError),  # Raised for invalid JSON.
)


def find_oauth_client(request: HttpRequest, client_id: str) -> Program | None:
    """Return the client, or None if it is unknown. If the ID is a URL, read its document.

    Raises `ValidationError` if the document of a new client cannot be used, or if the user requests
    too many documents.
    """
    stored = Program.objects.filter(pk=client_id).first()
    is_current = stored is not None and (stored.is_blocked or is_fresh(stored))
    if is_current or not client_id.startswith("https://"):
        return stored
    if not may_read_document(request):
        raise ValidationError(gettext("Too many attempts. Wait a few minutes, then try again."))
    try:
        return read_client(client_id, stored)
    except UNUSABLE:
        if stored is not None:
            return stored
        raise ValidationError(
            gettext("The program’s client metadata can’t be loaded from {address}.").format(
                address=client_id[:200]
            )
        ) from None


def is_fresh(client: Program) -> bool:
    read_at = (client.data or {}).get(READ_AT, 0)
    return bool(time.time() - read_at < FRESH_SECONDS)


def read_client(client_id: str, stored: Program | None) -> Program:
    """Fetch a client's metadata document, and store the client. `stored` is the client as it is
    already stored, or None.
    """
    client = described_client(client_id, lambda: async_to_sync(fetch_document)(client_id))
    prepare_client(client)
    kept: dict[str, Any] = {} if stored is None else stored.data or {}
    values = {name: getattr(client, name) for name in COLUMNS}
    values["data"] = {**kept, "cimd": True, READ_AT: int(time.time())}
    row, _ = Program.objects.update_or_create(pk=client_id, defaults=values)
    return row


async def fetch_document(address: str) -> Any:
    """Return the JSON at an untrusted URL, without following redirects."""
    client = find_client(Trust.GUARDED)
    async with (
        asyncio.timeout(SECONDS),
        client.stream(
            "GET", parse_url(address), headers={"Accept": "application/json"}
        ) as response,
    ):
        if response.status_code != 200:
            raise ValidationError(f"The server returned status {response.status_code}.")
        return msgspec.json.decode(await read_body(response, MOST_BYTES))
