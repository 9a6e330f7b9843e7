"""Documents as they may be shown, kept beside the row or handed out: without plain credentials.

See `apps.manifest.credentials` for what is found and what is put back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from apps.manifest import credentials
from apps.manifest.credentials import Unmasked

SALT = "apps.catalog.masking"
SHOWN = 8
"""Hexadecimal digits: enough to tell two credentials apart, nothing to find one by."""


def masked(document: Any) -> Any:
    """The document with `{"$hidden": "…"}` for each plain credential; equal ones look equal."""
    return credentials.masked(document, sealing(settings.SECRET_KEY))


def unmasked(document: Any, current: Any) -> Unmasked:
    """The document with what `current` has for each hidden credential.

    Problems have the paths of those that cannot be put back; the document is then not complete.
    """
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return credentials.unmasked(document, current, [sealing(key) for key in keys])


def put_back(document: Any, sources: Iterable[Any]) -> Unmasked:
    """The document with what any of the sources has; problems are told once none has it."""
    found = unmasked(document, None)
    for source in sources:
        if found.problems:
            found = unmasked(found.document, source)
    return found


def sealing(key: str) -> Callable[[str], str]:
    return partial(seal, key=key)


def seal(text: str, key: str) -> str:
    return salted_hmac(SALT, text, secret=key, algorithm="sha256").hexdigest()[:SHOWN]
