"""Documents that may be shown: each plain credential is masked, and put back when saved.

`apps.manifest.credentials` finds the credentials and decides which ones may be put back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.manifest import credentials
from apps.manifest.credentials import Seal, Unmasked, credential_places, replaced, value_at
from apps.manifest.problems import Problem
from apps.manifest.secrets import HIDDEN, SECRET
from apps.workspace.local.stored_secrets import find_all

SALT = "apps.catalog.masking"
SHOWN = 8
"""Hexadecimal digits: enough to tell two credentials apart, nothing to find one by."""


def masked(document: Any) -> Any:
    """The document with `{"$hidden": "…"}` for each plain credential; equal ones look equal."""
    return credentials.masked(document, partial(seal, key=settings.SECRET_KEY))


def unmasked(document: Any, current: Any) -> Unmasked:
    """The document with the hidden credentials of `current`; a problem for each that it lacks."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    seals = [partial(seal, key=key) for key in keys]
    return credentials.unmasked(with_names(document, current, seals), current, seals)


def with_names(document: Any, current: Any, seals: Sequence[Seal]) -> Any:
    """The document with the name of a secret for each mark of the same value.

    Pages and scripts may hold marks from before the credential became a secret. Only secrets that
    `current` names are looked at.
    """
    hidden = [place for place in credential_places(document) if place.kind == "hidden"]
    places = credential_places(current) if hidden else ()
    known = find_all({place.secret for place in places if place.kind == "reference"})
    names = {seal(secret.value): name for name, secret in known.items() for seal in seals}
    found = {place.keys: names.get(value_at(document, place.keys)[HIDDEN]) for place in hidden}
    return replaced(document, {keys: {SECRET: name} for keys, name in found.items() if name})


def put_back(document: Any, sources: Iterable[Any]) -> Unmasked:
    """The document with the hidden credentials of all sources; problems if no source has one."""
    found = unmasked(document, None)
    for source in sources:
        if found.problems:
            found = unmasked(found.document, source)
    return found


def masked_text(text: str) -> str:
    """A JSON text with its credentials masked; the text itself if there are none."""
    document = readable(text)
    safe = masked(document)
    return text if safe is document else json.dumps(safe, indent=2, ensure_ascii=False)


def unmasked_text(text: str, sources: Iterable[str]) -> tuple[str, tuple[Problem, ...]]:
    """A typed JSON text with the hidden credentials of the `sources`; problems as `put_back`."""
    if (document := readable(text)) is None:
        return text, ()  # the form refuses it
    known = {written: found for written in sources if (found := readable(written)) is not None}
    found = put_back(document, known.values())
    if found.document is document:
        return text, found.problems
    same = (written for written, other in known.items() if other == found.document)
    return next(same, json.dumps(found.document, indent=2, ensure_ascii=False)), found.problems


def readable(text: str) -> Any:
    """None for a text that is not JSON."""
    try:
        return parse(text)
    except JSONTextInvalid:
        return None


def seal(text: str, key: str) -> str:
    return salted_hmac(SALT, text, secret=key, algorithm="sha256").hexdigest()[:SHOWN]
