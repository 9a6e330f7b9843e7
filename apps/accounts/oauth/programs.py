"""Lists and disconnects the programs that may act for users.

A program is an OAuth client that registered itself or that is described by its own metadata
document. It remains stored once a user has connected it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from allauth.idp.oidc.models import Client, Token
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.buckets import bucket_of
from apps.accounts.oauth.resources import slug_of
from apps.old_rows import delete

CONNECTED = "connected"
"""The key in an OAuth client's data that is set once a user has connected the client."""
UNCONNECTED = timedelta(days=1)
"""The time after which programs that no user has connected are deleted."""
MOST_UNCONNECTED = 1000
"""The maximum number of stored programs that no user has connected, because anyone can register
programs. Further registrations delete the oldest ones.
"""


@dataclass(frozen=True, slots=True)
class ConnectedProgram:
    """A program that may act for a user.

    `host` is the host of the program's metadata document, or "" if the program registered itself.
    `slugs` are the applications that the program can use, and "" in it means all of them.
    `renewed_at` is the time of its newest token.
    """

    client_id: str
    name: str
    host: str
    slugs: tuple[str, ...]
    renewed_at: datetime


def document_host(client_id: str) -> str:
    """Return the host of the metadata document that describes an OAuth client, or "" if the client
    registered itself.
    """
    return urlsplit(client_id).netloc if client_id.startswith("https://") else ""


def programs_of(user_id: int) -> list[ConnectedProgram]:
    """Return the user's connected programs, the most recently renewed first."""
    found: dict[str, list[Token]] = {}
    for token in valid_tokens(user_id).select_related("client").order_by("-created_at"):
        found.setdefault(token.client_id, []).append(token)
    return [connected_program(tokens) for tokens in found.values()]


def connected_program(tokens: list[Token]) -> ConnectedProgram:
    client = tokens[0].client
    resources = {resource: None for token in tokens for resource in token.get_resources()}
    slugs = tuple(slug for one in resources if (slug := slug_of(one)) is not None)
    return ConnectedProgram(
        client.pk, client.name, document_host(client.pk), slugs, tokens[0].created_at
    )


def valid_tokens(user_id: int) -> QuerySet[Token]:
    return Token.objects.valid().filter(user=user_id).exclude(client=None)  # type: ignore[no-any-return]


@transaction.atomic
def connect(user: Any, client_id: str, address: str) -> None:
    """Record that a user allows a program to act for them, also in the audit log. `address` is the
    user's network address.
    """
    client = Client.objects.select_for_update().get(pk=client_id)
    data: Mapping[str, Any] = client.data or {}
    if CONNECTED not in data:
        client.data = {**data, CONNECTED: True}
        client.save(update_fields=["data"])
    subject = f"{client.name} ({client_id})"
    audit.record(AuditEvent("program.connected", bucket_of(user.pk), address, subject=subject))


@transaction.atomic
def disconnect(user: Any, client_id: str, address: str) -> bool:
    """Delete the tokens with which a program acts for a user. Return False if there are none."""
    rows = Token.objects.filter(user=user.pk, client=client_id)
    name = rows.values_list("client__name", flat=True).first()
    if name is None or not rows.delete()[0]:
        return False
    subject = f"{name} ({client_id})"
    audit.record(AuditEvent("program.disconnected", bucket_of(user.pk), address, subject=subject))
    return True


# --- Clean-up ---------------------------------------------------------------------------------


def unconnected() -> QuerySet[Client]:
    """Return the programs that no user has connected, newest first."""
    own = Q(data__has_key="dcr") | Q(data__has_key="cimd")
    rows = Client.objects.filter(own).exclude(data__has_key=CONNECTED)
    return rows.order_by("-created_at", "pk")  # type: ignore[no-any-return]


def delete_excess() -> None:
    """Delete the oldest programs above `MOST_UNCONNECTED`."""
    excess = list(unconnected().values_list("pk", flat=True)[MOST_UNCONNECTED:])
    Client.objects.filter(pk__in=excess).delete()


def delete_unconnected() -> int:
    return delete(unconnected().filter(created_at__lt=timezone.now() - UNCONNECTED))


def delete_expired_tokens() -> int:
    return delete(Token.objects.expired().order_by("expires_at"))
