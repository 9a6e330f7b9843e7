"""Forms that `site/saving.js` sends as soon as the user changes a field, and that have a button
without scripts.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

CHANGED = "changed"
"""The form field in which a script lists the names of the fields that the user changed."""


def is_sent_by_script(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def keep_changed_fields(request: HttpRequest, form: forms.BaseForm) -> None:
    """If a script sent the form, remove the fields that the user did not change, so that the form
    does not overwrite values that another tab saved.
    """
    if is_sent_by_script(request):
        changed = request.POST.getlist(CHANGED)
        form.fields = {name: field for name, field in form.fields.items() if name in changed}


def saved(request: HttpRequest, text: str, target: Any, *of: Any) -> HttpResponse:
    """Return a response without a body to a script. Otherwise, redirect to `target` and show
    `text` there.
    """
    if is_sent_by_script(request):
        return HttpResponse(status=204)
    messages.success(request, text)
    return redirect(target, *of)


def problems_of(form: forms.BaseForm) -> JsonResponse:
    """Return the errors of an invalid form to a script, by the names of the fields."""
    return JsonResponse({name: list(errors) for name, errors in form.errors.items()}, status=400)
