"""The page "What is remembered about you", and the switch of one conversation."""

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec
from urllib.parse import quote
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.chat.access import own_lasting
from apps.chat.memory_form import MemoryForm
from apps.chat.memory_listing import (
    own_collections,
    page_of,
    remembering,
    sections,
    title_of,
    titles,
)
from apps.chat.visitors import find_conversation, visitor
from apps.errors import MemoryMissing, QuickAppError
from apps.integers import read_integer
from apps.runs.error_texts import error_text
from apps.workspace.local.models import StoredMemory
from apps.workspace.local.remembered import change_settings, settings_of
from apps.workspace.memories.limits import IMPORT_BYTES

P = ParamSpec("P")

Change = Callable[P, Coroutine[Any, Any, object]]

LONGEST_QUERY = 200


@login_required
@require_safe
@never_cache
def memories(request: HttpRequest) -> HttpResponse:
    """All that is remembered; with `q`, what has that text."""
    return listing(request)


def listing(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    caller = visitor(request)
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    shown = page_of(caller, query, request.GET.get("page", ""))
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
    is_enabled, is_shared = "is_enabled" in request.POST, "is_shared" in request.POST
    change_settings(account_of(request), is_enabled=is_enabled, is_shared=is_shared)
    messages.success(request, gettext("Saved. It holds from your next message on."))
    return redirect("memory")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, collection: int, number: int) -> HttpResponse:
    from apps.chat import memory_changes  # with its first use, here and below

    caller = visitor(request)
    row = get_object_or_404(own_collections(caller), pk=collection)
    memory = get_object_or_404(row.memories.defer("vector"), number=number)
    form = MemoryForm.of(memory, request.POST or None)
    if request.method == "POST" and form.is_valid():
        fields = form.changes(memory)
        refused = problem_of(memory_changes.update, caller, row, number, fields)
        if refused is None:
            messages.success(request, gettext("Changed."))
            return redirect("memory")
        form.refuse(refused)
    title = title_of(row.application, titles(caller))
    context = {"form": form, "collection": row, "memory": memory, "title": title}
    return render(request, "chat/memory_edit.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def forget(request: HttpRequest, collection: int) -> HttpResponse:
    """The form field `memory` is the number of the memory."""
    from apps.chat import memory_changes

    row = get_object_or_404(own_collections(visitor(request)), pk=collection)
    number = get_object_or_404(row.memories, number=number_of(request, "memory")).number
    return changed(request, gettext("Forgotten."), memory_changes.forget, row, number)


@login_required
@require_POST
def undo(request: HttpRequest, collection: int) -> HttpResponse:
    """The form field `merge` is the number of the merge."""
    from apps.chat import memory_changes

    caller = visitor(request)
    row = get_object_or_404(own_collections(caller), pk=collection)
    merge = get_object_or_404(row.merges, number=number_of(request, "merge")).number
    done = gettext("The memories are separate again.")
    return changed(request, done, memory_changes.undo, caller, row, merge)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete(request: HttpRequest, collection: int | None = None) -> HttpResponse:
    """Ask, and with POST delete all memories of a collection, or of all of them."""
    from apps.chat import memory_changes

    caller = visitor(request)
    mine = own_collections(caller)
    row = get_object_or_404(mine, pk=collection) if collection is not None else None
    rows = list(mine) if row is None else [row]
    if request.method == "POST":
        return changed(request, gettext("Deleted."), memory_changes.delete_all, rows)
    count = StoredMemory.objects.filter(collection__in=rows).count()
    title = title_of(row.application, titles(caller)) if row is not None else ""
    return render(request, "chat/memory_delete.html", {"count": count, "title": title})


@login_required
@require_safe
@never_cache
def export(request: HttpRequest, collection: int) -> HttpResponse:
    from apps.chat import memory_changes

    row = get_object_or_404(own_collections(visitor(request)), pk=collection)
    content = async_to_sync(memory_changes.export)(row)
    response = HttpResponse(content, content_type="application/json")
    name = quote(f"memories-{slugify(row.application) or 'shared'}.json", safe="")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    return response


@login_required
@require_POST
def import_file(request: HttpRequest) -> HttpResponse:
    """The form fields are a `file`, and the slug of an `application`, "" for what they share."""
    from apps.chat import memory_changes

    caller = visitor(request)
    application = request.POST.get("application", "")
    if application and not own_collections(caller).filter(application=application).exists():
        get_object_or_404(remembering(caller), slug=application)
    file = request.FILES.get("file")
    if file is None:
        return listing(request, gettext("Choose a file first."), 400)
    try:
        # A byte more than an import may have: the file is never in memory as a whole.
        content = file.read(IMPORT_BYTES + 1)
        count = async_to_sync(memory_changes.import_file)(caller, application, content)
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
    """Whether the answers of a conversation have memory, by the form field `on`."""
    found = find_conversation(request, slug, conversation)
    is_on = request.POST.get("on") == "true"
    own_lasting(visitor(request)).filter(pk=found.pk).update(has_memory=is_on)
    return redirect("conversation", slug, conversation)


def changed(
    request: HttpRequest, done: str, change: Change[P], *of: P.args, **more: P.kwargs
) -> HttpResponse:
    refused = problem_of(change, *of, **more)
    if isinstance(refused, MemoryMissing):  # by another tab, or by an answer
        messages.success(request, gettext("It is gone already."))
    elif refused is not None:
        return listing(request, str(refused), 409)
    else:
        messages.success(request, done)
    return redirect("memory")


def problem_of(change: Change[P], *of: P.args, **more: P.kwargs) -> QuickAppError | None:
    """Carry out a change. Returns what it refuses with, None for nothing."""
    try:
        async_to_sync(change)(*of, **more)
    except QuickAppError as error:
        return error
    return None


def account_of(request: HttpRequest) -> int:
    """The key of the person's account; the pages here are for those who have one."""
    if request.user.pk is None:
        raise PermissionDenied
    return request.user.pk


def number_of(request: HttpRequest, field: str) -> int:
    """-1, which no memory has, for what is no number."""
    number = read_integer(request.POST.get(field, ""))
    return -1 if number is None else number
