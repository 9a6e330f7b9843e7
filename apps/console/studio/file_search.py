"""Searches an application's attached files with the settings of an unsaved draft."""

from copy import copy
from dataclasses import asdict

from asgiref.sync import async_to_sync
from django.http import HttpRequest, JsonResponse

from apps.accounts.caller import bucket_of
from apps.capabilities.documents.attached_files import SearchableFiles
from apps.catalog.corpora.applications import attaching
from apps.catalog.models import Application
from apps.console.admin.build.attached_files import REQUEST_CHARACTERS, report
from apps.console.studio.access import for_editors
from apps.console.studio.typed_draft import body_of, typed_in
from apps.workspace.local.corpora.attached import LocalCorpus

MOST_PASSAGES = 20
"""The maximum value of `features.documents.results` in a manifest."""
NOT_SEARCHED = "Add a file or a folder with stored files, and correct the errors of the draft."


@for_editors
def search_files(request: HttpRequest, row: Application) -> JsonResponse:
    """Return the passages that the draft's search tool finds for `q`, best first, and the number of
    indexed files.
    """
    body = body_of(request)
    draft = copy(row)
    draft.manifest = typed_in(body).manifest
    wanted, query = attaching(draft), str(body.get("q", "")).strip()[:REQUEST_CHARACTERS]
    if wanted is None or not query:
        return JsonResponse({"message": NOT_SEARCHED}, status=422)
    corpus = LocalCorpus(row.slug, bucket_of(request.user.pk), with_own=True)
    found = async_to_sync(report)(wanted, corpus, query, MOST_PASSAGES)
    documents = async_to_sync(SearchableFiles(corpus, wanted.contexts).documents)()
    return JsonResponse(
        {
            "passages": [asdict(one) for one in found.results],
            "notice": found.notice,
            "indexed": sum(one.is_searchable for one in documents),
            "files": len(documents),
        }
    )
