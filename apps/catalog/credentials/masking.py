"""Masks the plain credentials in documents for pages and APIs, and restores them when a document is
saved.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from apps.manifest.credentials import find_credentials
from apps.manifest.json_places import Keys, replace_values
from apps.manifest.json_text import JSONTextInvalid, parse_json
from apps.manifest.problems import Problem
from apps.manifest.secrets import HIDDEN, SECRET
from apps.manifest.servers import servers_of
from apps.workspace.local.secrets.stored_secrets import find_all

SALT = "apps.catalog.masking"
SHOWN = 8
"""The length of a mask in hexadecimal digits. A mask is too short to reveal the credential."""

UNKNOWN = "is a hidden credential that is not stored; enter it again, or use a secret"
ELSEWHERE = (
    "is a hidden credential that was stored for other servers; enter it again, or use a secret"
)


@dataclass(frozen=True, slots=True)
class UnmaskedDocument:
    """A document in which credentials have replaced masks. `problems` lists the masks without a
    matching credential.
    """

    document: Any
    problems: tuple[Problem, ...]


def mask_credentials(document: Any) -> Any:
    """Replace each plain credential in the document with a mask, `{"$hidden": "…"}`. Equal
    credentials get equal masks.
    """
    plain = find_credentials(document, "plain")
    marks = {place.keys: {HIDDEN: seal_of(place.value, settings.SECRET_KEY)} for place in plain}
    return replace_values(document, marks)


def unmask_document(document: Any, current: Any) -> UnmaskedDocument:
    """Replace the masks in the document with the credentials from `current`. Report each mask
    without a matching credential as a problem.

    A credential is restored at its old path, or moves with its object. It is never restored for a
    server to which it was not sent before, because any editor could then read it.
    """
    document = with_names(document, current)
    stored = {place: seals_of(place.value) for place in find_credentials(current, "plain")}
    found: dict[Keys, Any] = {}
    problems: list[Problem] = []
    for place in find_credentials(document, "hidden"):
        fitting = [other for other, seals in stored.items() if place.value[HIDDEN] in seals]
        fitting.sort(key=lambda other: other.keys != place.keys)
        servers = servers_of(document, place.keys)
        source = next((o for o in fitting if servers <= servers_of(current, o.keys)), None)
        if source is not None:
            found[place.keys] = source.value
        else:
            problems.append(Problem(place.path, ELSEWHERE if fitting else UNKNOWN))
    return UnmaskedDocument(replace_values(document, found), tuple(problems))


def with_names(document: Any, current: Any) -> Any:
    """Replace each mask for a credential that has become a secret with a reference to that secret.
    Only secrets to which `current` refers are considered.

    Pages and scripts that loaded the document earlier may still send such masks.
    """
    hidden = find_credentials(document, "hidden")
    places = find_credentials(current, "reference") if hidden else ()
    known = find_all({place.secret for place in places})
    names = {mark: name for name, secret in known.items() for mark in seals_of(secret.value)}
    found = {place.keys: names.get(place.value[HIDDEN]) for place in hidden}
    return replace_values(document, {keys: {SECRET: name} for keys, name in found.items() if name})


def restore_credentials(document: Any, sources: Iterable[Any]) -> UnmaskedDocument:
    """Replace the masks in the document with credentials from the first source that has them.
    Report the other masks as problems.
    """
    found = unmask_document(document, None)
    for source in sources:
        if found.problems:
            found = unmask_document(found.document, source)
    return found


def masked_text(text: str) -> str:
    """Mask the credentials in a JSON text. Return any other text unchanged."""
    document = parse_or_none(text)
    safe = mask_credentials(document)
    return text if safe is document else json.dumps(safe, indent=2, ensure_ascii=False)


def unmasked_text(text: str, sources: Iterable[str]) -> tuple[str, tuple[Problem, ...]]:
    """Replace the masks in an edited JSON text with credentials from the `sources`. Also return a
    problem for each mask without a matching credential.
    """
    if (document := parse_or_none(text)) is None:
        return text, ()  # The form reports the invalid JSON.
    known = {written: found for written in sources if (found := parse_or_none(written)) is not None}
    found = restore_credentials(document, known.values())
    if found.document is document:
        return text, found.problems
    same = (written for written, other in known.items() if other == found.document)
    return next(same, json.dumps(found.document, indent=2, ensure_ascii=False)), found.problems


def parse_or_none(text: str) -> Any:
    try:
        return parse_json(text)
    except JSONTextInvalid:
        return None


def seals_of(value: Any) -> list[str]:
    """Return the masks of a credential: one for the secret key, and one for each fallback key."""
    return [seal_of(value, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def seal_of(value: Any, key: str) -> str:
    return seal(value if isinstance(value, str) else json.dumps(value, sort_keys=True), key)


def seal(text: str, key: str) -> str:
    return salted_hmac(SALT, text, secret=key, algorithm="sha256").hexdigest()[:SHOWN]
