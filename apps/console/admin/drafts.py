"""A form that comes back changed and not saved: what was typed, with a secret for a credential."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import put_back
from apps.catalog.moving import Immovable, move
from apps.console.admin.history import RecordedAdmin
from apps.manifest.credentials import replaced
from apps.manifest.secrets import SECRET

Row = TypeVar("Row", bound=Model)

MOVE = "_move"
"""Submitted with the path of the credential that is to become a secret."""


class MovingAdmin(RecordedAdmin[Row]):
    """For rows with a document whose plain credentials can be moved; `document` names its field.

    The form has `moves`, whether whoever is asked may do that, and `starting`. A `name` of its own
    is for documents that have none.
    """

    document: str

    def get_form(
        self, request: HttpRequest, obj: Row | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        changes: dict[str, Any] = {"moves": may_move(request)}
        if (draft := draft_of(request)) is not None:
            changes["starting"] = draft
        return type(form.__name__, (form,), changes)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """Somebody may have asked for a secret instead of saving: then the draft comes back."""
        row = self.get_object(request, object_id) if object_id else None
        may = self.has_change_permission(request, row) if row else self.has_add_permission(request)
        if may and request.method == "POST" and MOVE in request.POST:
            form = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
            move_typed(request, form, self.document, called=getattr(form, "name", ""))
        answer: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return answer


def may_move(request: HttpRequest) -> bool:
    return request.user.has_perm("workspace.add_secret")


def draft_of(request: HttpRequest) -> Mapping[str, Any] | None:
    """What the form is to begin with, if it was submitted for something else than to be saved."""
    return getattr(request, "draft", None)


def move_typed(request: HttpRequest, form: BaseForm, column: str, *, called: str = "") -> None:
    """Make the secret, and let the request show the draft that names it.

    `column` is the field with the document, which is `called` so where it has no name. What cannot be done is told, and the draft comes back as it was typed. Raises PermissionDenied.
    """
    if not may_move(request):
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
