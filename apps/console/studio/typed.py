"""What the studio's scripts send: a title, a description and a document, as they are typed."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from django.http import HttpRequest

from apps.catalog.json_text import JSONTextInvalid, parse


class Unreadable(Exception):
    """The request is not one of the studio's scripts."""


@dataclass(frozen=True, slots=True)
class TypedDraft:
    """Credentials in the document are masked as the page shows them."""

    title: str
    description: str
    document: Any

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Raises `Unreadable`."""
    try:
        body = parse(request.body.decode())
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
        str(body.get("title", "")).strip(), str(body.get("description", "")), body["document"]
    )


def text_of(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)
