"""Parses the requests of the studio's scripts, which contain the draft that the user is typing."""

import json
from typing import Any

from django.http import HttpRequest, RawPostDataException

from apps.catalog.own_skills import Skills
from apps.catalog.versions.definitions import ApplicationDefinition
from apps.manifest.json_text import JSONTextInvalid, parse_json


class UnreadableDraft(Exception):
    """A request does not have the format that the studio's scripts send."""


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body of a request. Raises `UnreadableDraft` if there is none."""
    try:
        return object_in(request.body)
    except RawPostDataException as error:
        raise UnreadableDraft("Send JSON, not a form.") from error


def large_body_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in a body that may exceed Django's limit; `BODY_LIMITS` limits it.
    Raises `UnreadableDraft` if there is none.
    """
    return object_in(request.read())


def object_in(content: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises `UnreadableDraft` if the content is not one."""
    try:
        body = parse_json(content.decode())
    except UnicodeDecodeError as error:
        raise UnreadableDraft("The request is not UTF-8. Encode it as UTF-8.") from error
    except JSONTextInvalid as error:
        raise UnreadableDraft(str(error)) from error
    if not isinstance(body, dict):
        raise UnreadableDraft("The request is not a JSON object. Send a JSON object.")
    return body


def typed_in(body: Any) -> ApplicationDefinition:
    """Return the draft in the request, with masked credentials. Raises `UnreadableDraft` if it has
    no manifest.
    """
    if not isinstance(body, dict) or not isinstance(body.get("manifest"), dict):
        raise UnreadableDraft("The request has no manifest. Send the manifest as an object.")
    return ApplicationDefinition(
        title=str(body.get("title", "")).strip(),
        description=str(body.get("description", "")),
        icon=str(body.get("icon", "")),
        manifest=body["manifest"],
        skills=skills_in(body.get("skills")),
    )


def skills_in(written: Any) -> Skills | None:
    """Return the skills in the request, or None if it has none. Raises `UnreadableDraft` if they
    are invalid.
    """
    if written is None:
        return None
    if not isinstance(written, dict) or not all(map(is_folder, written.values())):
        raise UnreadableDraft(
            "skills: map each skill name to an object that maps file paths to text."
        )
    return written


def is_folder(texts: Any) -> bool:
    return isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values())


def manifest_text(manifest: Any) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False)
