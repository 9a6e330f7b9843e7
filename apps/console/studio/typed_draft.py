"""Parses the requests of the studio's scripts, which contain the unsaved draft."""

import json
from typing import Any

from django.http import HttpRequest, RawPostDataException

from apps.catalog.own_skills import Skills
from apps.catalog.versions.definitions import ApplicationDefinition
from apps.manifest.json_text import JSONTextInvalid, parse_json


class UnreadableDraft(Exception):
    """The request does not have the format that the studio's scripts use."""


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Parse the JSON object in the body of a request. Raises `UnreadableDraft` if it is invalid."""
    try:
        return object_in(request.body)
    except RawPostDataException as error:
        raise UnreadableDraft("Send JSON, not a form.") from error


def large_body_of(request: HttpRequest) -> dict[str, Any]:
    """Parse the JSON object in a body that may exceed Django's limit, up to the limit in
    `BODY_LIMITS`. Raises `UnreadableDraft` if it is invalid.
    """
    return object_in(request.read())


def object_in(content: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises `UnreadableDraft` if it is invalid."""
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
    """Return the draft in a request, in which credentials are still masked. Raises
    `UnreadableDraft` if it has no manifest or its skills are invalid.
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
    """Validate the skills in a request. None means that the request does not change them."""
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
