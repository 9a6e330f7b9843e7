"""The pages that list, search and show notes, and the lookup of notes by title."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.caller import Caller
from apps.accounts.persons import display_name
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.chat.notes.access import living_note, own_space
from apps.chat.visitors import visitor
from apps.notes.content import title_key
from apps.notes.errors import NoteRefused
from apps.notes.filters import LONGEST
from apps.notes.models import Note, NoteVersion
from apps.notes.note_lists import backlinks, existing, matching, tag_counts
from apps.plain_text import plain_text

ON_A_PAGE = 50
LISTED_TAGS = 40
LISTED_BACKLINKS = 100
EXCERPT = 400
"""The list reads at most this many characters of a note's text for its excerpt."""
MOST_TITLES = 200
OFFERED = 12
"""The maximum number of applications that a note's page offers for questions about the note."""
VIEWS = ("", "agents", "deleted")


@login_required
@require_safe
@never_cache
def notes(request: HttpRequest) -> HttpResponse:
    """List the notes that match the query parameter `q`. The parameter `show` can be `agents` for
    notes that agents changed, or `deleted` for deleted notes.
    """
    return show_list(request)


def show_list(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    space = own_space(request)
    query = request.GET.get("q", "").strip()[:LONGEST]
    view = request.GET.get("show", "")
    view = view if view in VIEWS else ""
    try:
        rows = rows_of(space.owner, query, view)
    except NoteRefused as error:
        rows, problem, status = (
            Note.objects.none(),
            gettext("The search is invalid: {error}").format(error=error),
            400,
        )
    page = Paginator(rows.annotate(excerpt=Left("text", EXCERPT)), ON_A_PAGE).get_page(
        request.GET.get("page", "")
    )
    row: Any
    for row in page:
        row.excerpt = plain_text(row.excerpt)
    context = {
        "space": space,
        "query": query,
        "view": view,
        "page": page,
        "kept": urlencode([(k, v) for k, v in (("q", query), ("show", view)) if v]),
        "tags": tag_counts(space.owner, LISTED_TAGS),
        "is_empty": not page.paginator.count and not query and not view and not problem,
        "writing": writing(visitor(request)),
        "problem": problem,
    }
    return render(request, "chat/notes.html", context, status=status)


def rows_of(owner: str, query: str, view: str) -> QuerySet[Note]:
    """Return the owner's notes that match the query. Raises `NoteRefused` if the query is invalid.

    The view `agents` selects notes that agents changed. The view `deleted` returns deleted notes
    and ignores the query.
    """
    if view == "deleted":
        rows = Note.objects.filter(owner=owner, deleted_at__isnull=False).order_by("-deleted_at")
        return rows.defer("text")
    rows = matching(owner, query).defer("text")
    return rows.filter(is_by_agent=True) if view == "agents" else rows


def writing(caller: Caller) -> QuerySet[Application]:
    """Return the caller's applications that can use notes, sorted by title."""
    return usable(caller).filter(manifest__features__notes__enabled=True).only("slug", "title")


@login_required
@require_safe
@never_cache
@ensure_csrf_cookie
def note(request: HttpRequest, pk: int) -> HttpResponse:
    space, found = living_note(request, pk)
    newest = newest_version(found)
    context = {
        "space": space,
        "note": found,
        "newest": newest,
        "author": author_name(newest),
        "agent": agent_name(newest),
        "backlinks": backlinks(space.owner, found.title).exclude(pk=found.pk)[:LISTED_BACKLINKS],
        "applications": offered_applications(visitor(request)),
    }
    return render(request, "chat/note.html", context)


def newest_version(found: Note) -> NoteVersion:
    rows: QuerySet[NoteVersion] = found.versions.select_related("user")
    return rows.get(number=found.number)


def author_name(version: NoteVersion) -> str:
    """Return the name of the user who wrote the version or for whom an agent wrote it, or "" if an
    agent wrote it for a deleted user.
    """
    if version.user is None:
        return gettext("a deleted user") if not version.is_by_agent else ""
    return display_name(version.user)


def agent_name(version: NoteVersion) -> str:
    """Return the title of the application whose agent wrote the version, or "" if a user wrote
    it.
    """
    if not version.is_by_agent:
        return ""
    row = Application.objects.filter(slug=version.application).only("title").first()
    return (row.title if row is not None else version.application) or gettext("An agent")


def offered_applications(caller: Caller) -> list[Application]:
    """Return up to `OFFERED` applications to which the user can send a question about a note.
    Applications that can use notes come first.
    """
    first = list(writing(caller)[:OFFERED])
    others = usable(caller).only("slug", "title").exclude(pk__in=[one.pk for one in first])
    return [*first, *others[: OFFERED - len(first)]]


@login_required
@require_safe
@never_cache
def open_title(request: HttpRequest) -> HttpResponse:
    """Redirect to the note with the title in the query, or to the form for a new note if no note
    has this title.
    """
    title = request.GET.get("title", "")
    pk = existing(own_space(request).owner, [title]).get(title_key(title))
    if pk is not None:
        return redirect("note", pk)
    return redirect(f"{reverse('note-new')}?{urlencode({'title': title})}")


@login_required
@require_POST
def links(request: HttpRequest) -> JsonResponse:
    """Return the URLs of the notes whose titles are in the form field `title`, which can be
    repeated. Unknown titles are omitted.
    """
    titles = request.POST.getlist("title")[:MOST_TITLES]
    there = existing(own_space(request).owner, titles)
    known = {
        title: reverse("note", args=(there[title_key(title)],))
        for title in titles
        if title_key(title) in there
    }
    return JsonResponse({"known": known}, headers={"Cache-Control": "no-store"})
