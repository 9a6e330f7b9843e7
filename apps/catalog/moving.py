"""Moving a plain credential out of a document, into a secret that the document then names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.catalog.credentials import is_address
from apps.manifest.credentials import Keys, Place, credential_places, servers_of, value_at
from apps.manifest.names import localized
from apps.workspace.local.models import Secret

MOST_NAMES = 10_000


class Immovable(ValueError):
    """A credential that cannot be moved; the text says why, in words for an operator."""


@dataclass(frozen=True, slots=True)
class Moved:
    """`keys` lead to where the document is to name the secret."""

    secret: Secret
    keys: Keys


def move(document: Any, path: str, user: Any, *, called: str = "") -> Moved:
    """Make a secret of the plain credential at a path, for the servers that it is sent to now.

    The document is `called` so where it does not name itself. Raises `Immovable`; `ValidationError` for a value that no secret can have.
    """
    places = {place.path: place for place in credential_places(document) if place.kind == "plain"}
    place = places.get(path)
    if place is None:
        raise Immovable("There is no plain credential at that place any more.")
    value = value_at(document, place.keys)
    if not isinstance(value, str):
        raise Immovable(f"{path}: only a text can be moved to a secret.")
    servers = sorted(server for server in servers_of(document, place.keys) if is_address(server))
    if not servers:
        raise Immovable(f"{path}: the document does not say which server it is sent to.")
    with transaction.atomic():
        name = free_name(proposed_name(document, place, called))
        secret = Secret(name=name, value=value, servers=servers)
        secret.created_by_id = secret.changed_by_id = user.pk
        secret.full_clean()
        secret.save()
    return Moved(secret, place.keys)


def proposed_name(document: Any, place: Place, called: str = "") -> str:
    """After the toolset and the field, such as `tracking-key`."""
    inner = value_at(document, place.keys[:2]) if place.keys[0] == "tool_sets" else document
    named = inner.get("name") or inner.get("template_name") if isinstance(inner, dict) else ""
    title = localized(named) if isinstance(named, str | dict) else ""
    words = f"{title or called} {last_word(place)}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:90] or "secret"


def last_word(place: Place) -> str:
    last = place.keys[-1]
    return str(place.keys[-2] if last == "const" else last)


def free_name(stem: str) -> str:
    taken = set(Secret.objects.filter(name__startswith=stem).values_list("name", flat=True))
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, MOST_NAMES))
    return next(name for name in names if name not in taken)
