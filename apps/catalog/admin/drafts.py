"""A form that comes back changed and not saved: what was typed, with a secret for a credential."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import BaseForm
from django.http import HttpRequest

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import put_back
from apps.catalog.moving import Immovable, move
from apps.manifest.credentials import replaced
from apps.manifest.secrets import SECRET

MOVE = "_move"
"""Submitted with the path of the credential that is to become a secret."""


def draft_of(request: HttpRequest) -> Mapping[str, Any] | None:
    """What the form is to begin with, if it was submitted for something else than to be saved."""
    return getattr(request, "draft", None)


def move_typed(request: HttpRequest, form: BaseForm, column: str, *, called: str = "") -> None:
    """Make the secret, and let the request show the draft that names it.

    `column` is the field with the document, which is `called` so where it has no name. What cannot be done is told, and the draft comes back as it was typed. Raises PermissionDenied.
    """
    if not request.user.has_perm("workspace.add_secret"):
        raise PermissionDenied
    draft = {name: form[name].value() for name in form.fields}
    try:
        field: Any = form.fields[column]
        draft[column] = field.bound_data(moved(request, field, str(draft[column]), called), None)
    except (Immovable, JSONTextInvalid) as error:
        messages.error(request, f"Not moved. {error}")
    except ValidationError as error:
        messages.error(request, f"Not moved. {' '.join(error.messages)}")
    request.draft = draft  # type: ignore[attr-defined]
    request.method = "GET"  # nothing is saved: the form begins anew with what was typed


def moved(request: HttpRequest, field: Any, text: str, called: str) -> str:
    """The text with the name of the new secret; what is hidden in it stays hidden.

    Raises `Immovable`, `JSONTextInvalid`, `ValidationError`.
    """
    typed = parse(text)
    whole = put_back(typed, field.documents).document
    done = move(whole, request.POST[MOVE], request.user, called=called)
    messages.success(
        request,
        f"The credential is now the secret {done.secret.name!r}, for "
        f"{', '.join(done.secret.servers)}. It is named here once this form is saved.",
    )
    named = replaced(typed, {done.keys: {SECRET: done.secret.name}})
    return json.dumps(named, indent=2, ensure_ascii=False)
