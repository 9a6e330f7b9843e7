"""Shows the files attached to an application and their indexing progress, and searches them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from apps.accounts.caller import bucket_of
from apps.capabilities.documents.attached_files import SearchableFiles
from apps.capabilities.documents.document_vectors import request_vector
from apps.capabilities.documents.retrieval import Passage, page_label
from apps.catalog.corpora.applications import AttachingApplication, attaching
from apps.catalog.models import Application, Role
from apps.console.admin.theme import Admin
from apps.console.operator_rights import has_role, visible_applications
from apps.errors import QuickAppError
from apps.integers import read_integer
from apps.workspace.local.corpora.attached import LocalCorpus
from apps.workspace.local.corpora.corpus import Corpus, CorpusDocument, index_again
from apps.workspace.local.deployments.found_deployments import find_embedder

MOST_RESULTS = 10
REQUEST_CHARACTERS = 1_000
State = CorpusDocument.State


@dataclass(frozen=True, slots=True)
class SearchResult:
    place: str
    address: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The results of a search in attached files."""

    results: Sequence[SearchResult] = field(default_factory=tuple)
    notice: str = ""
    """The reason why only keyword search was used, or "" if semantic search was also used."""


def attached_files(admin: Admin[Application], request: HttpRequest, pk: int) -> HttpResponse:
    """Show an application's attached files. A POST indexes all of them again, or only the document
    with the submitted ID.

    Raises `PermissionDenied` if the user may not change the application.
    """
    application = get_object_or_404(visible_applications(request), pk=pk)
    # Editors see the names and texts of uploaded files. Only the owner of a private file sees its
    # name and text.
    is_editor = has_role(request, application, Role.EDITOR)
    corpus = LocalCorpus(application.slug, bucket_of(request.user.pk), with_own=is_editor)
    if request.method == "POST":
        if not admin.has_change_permission(request, application):
            raise PermissionDenied
        rows = corpus.rows()
        if number := request.POST.get("document", ""):
            rows = rows.filter(pk=read_integer(number) or 0)
        count = index_again(rows)
        said = f"{count} {'file is' if count == 1 else 'files are'} queued for indexing."
        admin.message_user(request, said, messages.SUCCESS)
        return redirect(admin.url("files", pk))
    wanted, query = attaching(application), request.GET.get("q", "").strip()[:REQUEST_CHARACTERS]
    documents = list(corpus.rows())
    row = Corpus.objects.filter(application=application.slug).first()
    context = {
        "application": application,
        "is_wanted": wanted is not None,
        "corpus": row,
        "documents": [(document, percent_of(document)) for document in documents],
        "percent": total_percent(documents),
        "hidden": (row.documents.count() if row else 0) - len(documents),
        "may_change": admin.has_change_permission(request, application),
        "asked": query,
        "report": async_to_sync(report)(wanted, corpus, query) if wanted and query else None,
    }
    title = f"Attached files of {application.title}"
    return admin.page(request, "admin/catalog/application/files.html", title, context)


def percent_of(document: CorpusDocument) -> int:
    """Return the percentage of a document's chunks that semantic search covers. A document without
    text is complete.
    """
    if not document.chunk_count:
        return 100 if document.state == State.READY else 0
    return 100 * document.vector_count // document.chunk_count


def total_percent(documents: Sequence[CorpusDocument]) -> int:
    """Return the average indexing progress as a percentage. Failed documents do not count."""
    going = [percent_of(one) for one in documents if one.state != State.FAILED]
    return sum(going) // len(going) if going else 0


async def report(
    wanted: AttachingApplication, corpus: LocalCorpus, query: str, most: int = MOST_RESULTS
) -> SearchReport:
    """Search the attached files as the application's tool would, and return up to `most`
    results.
    """
    attached = SearchableFiles(corpus, wanted.contexts)
    searched = await attached.open(await attached.documents())
    vector, notice = None, ""
    try:
        embedder = await find_embedder(wanted.embedding_deployment_id)
        vector, _ = await request_vector(embedder, query)
    except QuickAppError as error:
        notice = str(error)
    if vector is None:
        notice = f"Searched by words alone. {notice}".rstrip()
    found = await searched.search(query, vector, most) if searched else []
    return SearchReport([result_of(one) for one in found], notice)


def result_of(passage: Passage) -> SearchResult:
    document, chunk = passage.document, passage.chunk
    place = page_label(document, chunk.page)
    return SearchResult(place, document.address, passage.score, chunk.searched)
