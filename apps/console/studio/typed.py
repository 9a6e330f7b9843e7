"""What the studio's scripts send: a draft as it is typed."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from django.http import HttpRequest

from apps.catalog.application_files.own_skills import Skills
from apps.catalog.json_text import JSONTextInvalid, parse


class Unreadable(Exception):
    """The request is not one of the studio's scripts."""


@dataclass(frozen=True, slots=True)
class TypedDraft:
    """Credentials in the document are masked as the page shows them.

    `skills` are those of the application alone; None for those that it has.
    """

    title: str
    description: str
    document: Any
    icon: str = ""
    skills: Skills | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Raises `Unreadable`."""
    return object_in(request.body)


def large_body_of(request: HttpRequest) -> dict[str, Any]:
    """As `body_of`, for a request that `BODY_LIMITS` lets be larger than Django reads by itself."""
    return object_in(request.read())


def object_in(content: bytes) -> dict[str, Any]:
    """Raises `Unreadable`."""
    try:
        body = parse(content.decode())
    except (JSONTextInvalid, UnicodeDecodeError) as error:
        raise Unreadable(str(error)) from error
    if not isinstance(body, dict):
        raise Unreadable("The request has to be a JSON object.")
    return body


def typed_in(body: Any) -> TypedDraft:
    """Raises `Unreadable`."""
    if not isinstance(body, dict) or not isinstance(body.get("document"), dict):
        raise Unreadable("The request has no document.")
    return TypedDraft(
        title=str(body.get("title", "")).strip(),
        description=str(body.get("description", "")),
        document=body["document"],
        icon=str(body.get("icon", "")),
        skills=skills_in(body.get("skills")),
    )


def skills_in(written: Any) -> Skills | None:
    """Raises `Unreadable`."""
    if written is None:
        return None
    if not isinstance(written, dict) or not all(map(is_folder, written.values())):
        raise Unreadable("The skills have to be texts by path, by the name of each skill.")
    return written


def is_folder(texts: Any) -> bool:
    return isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values())


def text_of(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)
