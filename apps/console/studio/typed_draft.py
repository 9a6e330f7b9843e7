"""Parses requests of the studio's scripts, which contain the typed draft."""

import json
from typing import Any

from django.http import HttpRequest, RawPostDataException

from apps.catalog.own_skills import Skills
from apps.catalog.versions.definitions import ApplicationDefinition
from apps.manifest.json_text import JSONTextInvalid, parse_json


class UnreadableDraft(Exception):
    """Raised if a request is not in the form in which the studio's scripts send it."""


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body of a request. Raises `UnreadableDraft`."""
    try:
        return object_in(request.body)
    except RawPostDataException as error:
        raise UnreadableDraft("Send JSON, not a form.") from error


def large_body_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body of a request that may be larger than Django's limit.
    `BODY_LIMITS` limits its size. Raises `UnreadableDraft`.
    """
    return object_in(request.read())


def object_in(content: bytes) -> dict[str, Any]:
    """Return the JSON object that the content contains. Raises `UnreadableDraft`."""
    try:
        body = parse_json(content.decode())
    except UnicodeDecodeError as error:
        raise UnreadableDraft("The request is not in UTF-8. Send it in UTF-8.") from error
    except JSONTextInvalid as error:
        raise UnreadableDraft(str(error)) from error
    if not isinstance(body, dict):
        raise UnreadableDraft("The request is not a JSON object. Send one.")
    return body


def typed_in(body: Any) -> ApplicationDefinition:
    """Return the typed draft that a request contains, with masked credentials. Raises
    `UnreadableDraft`.
    """
    if not isinstance(body, dict) or not isinstance(body.get("manifest"), dict):
        raise UnreadableDraft("The request has no manifest. Send it as an object.")
    return ApplicationDefinition(
        title=str(body.get("title", "")).strip(),
        description=str(body.get("description", "")),
        icon=str(body.get("icon", "")),
        manifest=body["manifest"],
        skills=skills_in(body.get("skills")),
    )


def skills_in(written: Any) -> Skills | None:
    """Return the typed skills, or None if the request contains none. Raises `UnreadableDraft`."""
    if written is None:
        return None
    if not isinstance(written, dict) or not all(map(is_folder, written.values())):
        raise UnreadableDraft("skills: send an object that maps each name to texts by path.")
    return written


def is_folder(texts: Any) -> bool:
    return isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values())


def manifest_text(manifest: Any) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False)
