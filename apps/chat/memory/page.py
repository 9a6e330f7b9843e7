"""The "Memory" page, and the memory switch in a conversation's menu."""

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec
from urllib.parse import quote
from uuid import UUID

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.chat.memory import changes
from apps.chat.memory.changes import MemoryForm
from apps.chat.memory.listing import (
    application_title,
    memory_page,
    own_collections,
    remembering,
    sections,
    titles,
)
from apps.chat.saved_forms import keep_changed_fields, saved
from apps.chat.visitors import find_conversation, visitor
from apps.conversations.access import own_lasting
from apps.errors import QuickAppError
from apps.integers import read_integer
from apps.runs.explanations import error_text
from apps.workspace.local.memories.remembered import MemorySettings, settings_of
from apps.workspace.local.models import StoredMemory
from apps.workspace.memories.errors import MemoryMissing
from apps.workspace.memories.limits import IMPORT_BYTES

P = ParamSpec("P")

Change = Callable[P, Coroutine[Any, Any, object]]

LONGEST_QUERY = 200


class SettingsForm(forms.ModelForm[MemorySettings]):
    class Meta:
        model = MemorySettings
        fields = ("is_enabled", "is_shared")


@login_required
@require_safe
@never_cache
def memories(request: HttpRequest) -> HttpResponse:
    """Show the user's memories that contain the text in `q`, or all memories if `q` is empty."""
    return listing(request)


def listing(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    caller = visitor(request)
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    shown = memory_page(caller, query, request.GET.get("page", ""))
    context = {
        "query": query,
        "page": shown,
        "sections": sections(caller, shown),
        "is_empty": not shown.paginator.count and not query,
        "settings": settings_of(account_of(request)),
        "applications": remembering(caller),
        "problem": problem,
    }
    return render(request, "chat/memory.html", context, status=status)


@login_required
@require_POST
def settings(request: HttpRequest) -> HttpResponse:
    form = SettingsForm(request.POST, instance=settings_of(account_of(request)))
    keep_changed_fields(request, form)
    form.save()  # Checkboxes are always valid.
    return saved(request, gettext("Saved. Changes apply from your next message."), "memory")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, collection: int, number: int) -> HttpResponse:
    caller = visitor(request)
    row = get_object_or_404(own_collections(caller), pk=collection)
    memory = get_object_or_404(row.memories.defer("vector"), number=number)
    form = MemoryForm.of(memory, request.POST or None)
    if request.method == "POST" and form.is_valid():
        fields = form.changes(memory)
        refused = problem_of(changes.update, caller, row, number, fields)
        if refused is None:
            messages.success(request, gettext("Memory updated."))
            return redirect("memory")
        form.refuse(refused)
    title = application_title(row.application, titles(caller))
    context = {"form": form, "collection": row, "memory": memory, "title": title}
    return render(request, "chat/memory_edit.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def delete_memory(request: HttpRequest, collection: int) -> HttpResponse:
    """Delete the memory whose number is in the form field `memory`."""
    row = get_object_or_404(own_collections(visitor(request)), pk=collection)
    number = get_object_or_404(row.memories, number=number_of(request, "memory")).number
    return apply_change(request, gettext("Memory forgotten."), changes.forget_memory, row, number)


@login_required
@require_POST
def undo(request: HttpRequest, collection: int) -> HttpResponse:
    """Undo the merge whose number is in the form field `merge`."""
    caller = visitor(request)
    row = get_object_or_404(own_collections(caller), pk=collection)
    merge = get_object_or_404(row.merges, number=number_of(request, "merge")).number
    done = gettext("The merge was undone.")
    return apply_change(request, done, changes.undo, caller, row, merge)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete(request: HttpRequest, collection: int | None = None) -> HttpResponse:
    """Show the confirmation page. A POST deletes all memories in the collection, or in all
    collections if `collection` is None.
    """
    caller = visitor(request)
    mine = own_collections(caller)
    row = get_object_or_404(mine, pk=collection) if collection is not None else None
    rows = list(mine) if row is None else [row]
    if request.method == "POST":
        return apply_change(request, gettext("Deleted."), changes.delete_all, rows)
    count = StoredMemory.objects.filter(collection__in=rows).count()
    title = application_title(row.application, titles(caller)) if row is not None else ""
    return render(request, "chat/memory_delete.html", {"count": count, "title": title})


@login_required
@require_safe
@never_cache
def export(request: HttpRequest, collection: int) -> HttpResponse:
    row = get_object_or_404(own_collections(visitor(request)), pk=collection)
    content = async_to_sync(changes.export)(row)
    response = HttpResponse(content, content_type="application/json")
    name = quote(f"memories-{slugify(row.application) or 'shared'}.json", safe="")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    return response


@login_required
@require_POST
def import_file(request: HttpRequest) -> HttpResponse:
    """Import memories from the uploaded file for the application whose slug is in the form field
    `application`. The slug "" means the shared memory.
    """
    caller = visitor(request)
    application = request.POST.get("application", "")
    if application and not own_collections(caller).filter(application=application).exists():
        get_object_or_404(remembering(caller), slug=application)
    file = request.FILES.get("file")
    if file is None:
        return listing(request, gettext("Choose a file first."), 400)
    try:
        # Read one byte more than the limit, so that the whole file is never in memory.
        content = file.read(IMPORT_BYTES + 1)
        count = async_to_sync(changes.import_file)(caller, application, content)
    except QuickAppError as error:
        return listing(
            request, gettext("Nothing was imported. {error}").format(error=error_text(error)), 400
        )
    messages.success(
        request,
        ngettext("{count} new memory imported.", "{count} new memories imported.", count).format(
            count=count
        ),
    )
    return redirect("memory")


@require_POST
def switch(request: HttpRequest, slug: str, conversation: UUID) -> HttpResponse:
    """Turn the conversation's memory on or off, depending on the form field `on`."""
    found = find_conversation(request, slug, conversation)
    is_on = request.POST.get("on") == "true"
    own_lasting(visitor(request)).filter(pk=found.pk).update(has_memory=is_on)
    return redirect("conversation", slug, conversation)


def apply_change(
    request: HttpRequest, done: str, change: Change[P], *of: P.args, **more: P.kwargs
) -> HttpResponse:
    refused = problem_of(change, *of, **more)
    if isinstance(refused, MemoryMissing):  # Deleted in another tab or by an answer.
        messages.success(request, gettext("This item was already deleted."))
    elif refused is not None:
        return listing(request, str(refused), 409)
    else:
        messages.success(request, done)
    return redirect("memory")


def problem_of(change: Change[P], *of: P.args, **more: P.kwargs) -> QuickAppError | None:
    """Call `change` with the arguments. Return the `QuickAppError` that it raises, or None if it
    succeeds.
    """
    try:
        async_to_sync(change)(*of, **more)
    except QuickAppError as error:
        return error
    return None


def account_of(request: HttpRequest) -> int:
    """Return the signed-in user's primary key. Raises `PermissionDenied` for a visitor without an
    account.
    """
    if request.user.pk is None:
        raise PermissionDenied
    return request.user.pk


def number_of(request: HttpRequest, field: str) -> int:
    """Return the number in a form field, or -1 if it is invalid. No memory has this number."""
    number = read_integer(request.POST.get(field, ""))
    return -1 if number is None else number
