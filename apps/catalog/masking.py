"""Documents that may be shown: each plain credential is masked, and put back when saved."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.manifest.credentials import credential_places
from apps.manifest.places import Keys, replaced
from apps.manifest.problems import Problem
from apps.manifest.secrets import HIDDEN, SECRET
from apps.manifest.servers import servers_of
from apps.workspace.local.stored_secrets import find_all

SALT = "apps.catalog.masking"
SHOWN = 8
"""Hexadecimal digits: enough to tell two credentials apart, nothing to find one by."""

UNKNOWN = "is a hidden credential, and none like it is stored; type it again, or name a secret"
ELSEWHERE = (
    "is a hidden credential that was stored for other servers; type it again, or name a secret"
)


@dataclass(frozen=True, slots=True)
class Unmasked:
    """`document` is complete only without problems."""

    document: Any
    problems: tuple[Problem, ...]


def masked(document: Any) -> Any:
    """The document with `{"$hidden": "…"}` for each plain credential; equal ones look equal."""
    plain = credential_places(document, "plain")
    marks = {place.keys: {HIDDEN: seal_of(place.value, settings.SECRET_KEY)} for place in plain}
    return replaced(document, marks)


def unmasked(document: Any, current: Any) -> Unmasked:
    """The document with the hidden credentials of `current`; a problem for each that it lacks.

    One goes back to where it was, or along with what was moved, but never to a server that it was
    not sent to before: else whoever may edit could read it.
    """
    document = with_names(document, current)
    stored = {place: seals_of(place.value) for place in credential_places(current, "plain")}
    found: dict[Keys, Any] = {}
    problems: list[Problem] = []
    for place in credential_places(document, "hidden"):
        fitting = [other for other, seals in stored.items() if place.value[HIDDEN] in seals]
        fitting.sort(key=lambda other: other.keys != place.keys)
        servers = servers_of(document, place.keys)
        source = next((o for o in fitting if servers <= servers_of(current, o.keys)), None)
        if source is not None:
            found[place.keys] = source.value
        else:
            problems.append(Problem(place.path, ELSEWHERE if fitting else UNKNOWN))
    return Unmasked(replaced(document, found), tuple(problems))


def with_names(document: Any, current: Any) -> Any:
    """The document with the name of a secret for each mark of the same value.

    Pages and scripts may hold marks from before the credential became a secret. Only secrets that
    `current` names are looked at.
    """
    hidden = credential_places(document, "hidden")
    places = credential_places(current, "reference") if hidden else ()
    known = find_all({place.secret for place in places})
    names = {mark: name for name, secret in known.items() for mark in seals_of(secret.value)}
    found = {place.keys: names.get(place.value[HIDDEN]) for place in hidden}
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


def seals_of(value: Any) -> list[str]:
    """The marks of a value under the present key and the earlier ones."""
    return [seal_of(value, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def seal_of(value: Any, key: str) -> str:
    return seal(value if isinstance(value, str) else json.dumps(value, sort_keys=True), key)


def seal(text: str, key: str) -> str:
    return salted_hmac(SALT, text, secret=key, algorithm="sha256").hexdigest()[:SHOWN]
