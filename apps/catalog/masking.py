"""Documents as they may be shown, kept beside the row or handed out: without plain credentials.

See `apps.manifest.credentials` for what is found and what is put back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.manifest import credentials
from apps.manifest.credentials import Unmasked
from apps.manifest.problems import Problem

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


def masked_text(text: str) -> str:
    """A document as it was written, unless there is a credential in it."""
    try:
        document = parse(text)
    except JSONTextInvalid:
        return text
    safe = masked(document)
    return text if safe is document else json.dumps(safe, indent=2, ensure_ascii=False)


def unmasked_text(text: str, sources: Iterable[str]) -> tuple[str, tuple[Problem, ...]]:
    """A document that was typed, with what the texts of the `sources` have; and what none has."""
    try:
        document = parse(text)
    except JSONTextInvalid:
        return text, ()  # it is refused for that
    known = {written: found for written in sources if (found := readable(written)) is not None}
    found = put_back(document, known.values())
    if found.document is document:
        return text, found.problems
    same = (written for written, other in known.items() if other == found.document)
    return next(same, json.dumps(found.document, indent=2, ensure_ascii=False)), found.problems


def readable(text: str) -> Any:
    try:
        return parse(text)
    except JSONTextInvalid:
        return None


def sealing(key: str) -> Callable[[str], str]:
    return partial(seal, key=key)


def seal(text: str, key: str) -> str:
    return salted_hmac(SALT, text, secret=key, algorithm="sha256").hexdigest()[:SHOWN]
