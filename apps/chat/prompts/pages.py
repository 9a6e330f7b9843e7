"""Lists, edits, imports and exports a user's own prompts."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.forms.utils import ErrorDict
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.catalog.saved_prompts import MOST_OF_A_PERSON, SavedPrompt, offered_prompts, own_prompts
from apps.chat.prompts.form import PromptForm
from apps.chat.visitors import account_user, visitor
from apps.doors.bodies import first_problem
from apps.errors import Refused, TooLarge

IMPORT_BYTES = 12 * 1024 * 1024


@login_required
@require_safe
@never_cache
def prompts(request: HttpRequest) -> HttpResponse:
    return listing(request)


def listing(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    caller = visitor(request)
    context = {
        "prompts": own_prompts(caller.user_id),
        "shared": offered_prompts(caller).filter(user=None).select_related("team__group"),
        "problem": problem,
        "example": "{{" + gettext("topic") + "}}",
    }
    return render(request, "chat/prompts.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    return save_prompt(request, SavedPrompt(user=account_user(request)))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a prompt. Raises Http404 if it is not the user's own."""
    return save_prompt(request, get_object_or_404(own_prompts(account_user(request).pk), pk=pk))


def save_prompt(request: HttpRequest, row: SavedPrompt) -> HttpResponse:
    form = PromptForm(row, request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid():
        status = 400 if form.is_bound else 200
        context = {"form": form, "is_new": row.pk is None}
        return render(request, "chat/prompt_edit.html", context, status=status)
    form.save()
    messages.success(
        request,
        gettext("Saved. Write /{name} in a message to insert it.").format(name=form.instance.name),
    )
    return redirect("prompts")


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a prompt. Raises Http404 if it is not the user's own."""
    row = get_object_or_404(own_prompts(account_user(request).pk), pk=pk)
    row.delete()
    messages.success(request, f"/{row.name} was deleted.")
    return redirect("prompts")


@login_required
@require_safe
@never_cache
def export(request: HttpRequest) -> HttpResponse:
    answer = JsonResponse(export_prompts(account_user(request).pk), json_dumps_params={"indent": 2})
    answer["Content-Disposition"] = 'attachment; filename="prompts.json"'
    return answer


@login_required
@require_POST
def import_file(request: HttpRequest) -> HttpResponse:
    """Import prompts from the JSON file in the form field `file`."""
    sent = request.FILES.get("file")
    if sent is None:
        return listing(request, gettext("Choose a file first."), 400)
    try:
        # Read one byte more than the limit, so that the whole file is never in memory.
        count = import_prompts(account_user(request).pk, sent.read(IMPORT_BYTES + 1))
    except Refused as error:
        return listing(request, gettext("Nothing was imported. {error}").format(error=error), 400)
    messages.success(
        request,
        ngettext("{count} prompt imported.", "{count} prompts imported.", count).format(
            count=count
        ),
    )
    return redirect("prompts")


class PromptEntry(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    title: str = ""
    text: str


class PromptFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    prompts: list[PromptEntry] = Field(max_length=MOST_OF_A_PERSON)


def export_prompts(user: int) -> dict[str, Any]:
    rows = own_prompts(user).values("name", "title", "text")
    return {"prompts": list(rows)}


@transaction.atomic
def import_prompts(user: int, content: bytes) -> int:
    """Store the prompts from an exported JSON file, and return their number. An imported prompt
    replaces the user's prompt with the same name. Raises `Refused` if the file is invalid.
    """
    entries = read_prompts(content)
    known = {row.name: row for row in own_prompts(user)}
    for index, entry in enumerate(entries):
        row = known.get(entry.name) or SavedPrompt(user_id=user)
        form = PromptForm(row, {**entry.model_dump(), "title": entry.title or entry.name})
        if not form.is_valid():
            raise Refused("bad_prompt", first_mistake(index, form.errors))
        known[entry.name] = form.save()
    return len(entries)


def read_prompts(content: bytes) -> list[PromptEntry]:
    """Parse an exported JSON file of prompts. Raises `Refused` with the name of the first invalid
    field.
    """
    if len(content) > IMPORT_BYTES:
        raise TooLarge("too_large", gettext("The file is too large; the limit is 12 MB."))
    try:
        return PromptFile.model_validate_json(content).prompts
    except ValidationError as error:
        raise Refused("bad_file", f"{first_problem(error)}.") from error


def first_mistake(index: int, errors: ErrorDict) -> str:
    field, texts = next(iter(errors.items()))
    text = texts[0]
    return str(text) if field == "__all__" else f"prompts.{index}.{field}: {text}"
