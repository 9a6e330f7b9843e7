"""Attached files are indexed as searchable rows in the background, by one process at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.core.files.base import ContentFile
from django.utils import timezone

from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport
from apps.catalog.application_uploads import store_upload
from apps.catalog.corpora import documents as steps
from apps.catalog.corpora.comparison import MISSING
from apps.catalog.versions.version_recorder import save_live
from apps.documents.structure import Page, PagedText
from apps.errors import LeaseLost, ServiceFailed
from apps.insights import call_rows
from apps.insights.models import ModelCall
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.local.corpora.attached import LocalCorpus
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import (
    Corpus,
    CorpusChunk,
    CorpusDocument,
    compare_soon,
    index_again,
)
from apps.workspace.local.corpora.document_texts import storable_pages
from apps.workspace.local.files import files
from apps.workspace.local.models import PUBLIC
from tests.catalog.corpora.library import (
    GUIDES,
    Process,
    attach,
    documents,
    manifest,
    problem,
    share,
)
from tests.catalog.rows import make_application, make_operator
from tests.documents.samples import pdf, protected_pdf
from tests.workspace.embeddings.hashed import HashedEmbedder

pytestmark = pytest.mark.usefixtures("process")

RULES = "# Dogs\n\nDogs stay free.\n\n# Check-out\n\nA late check-out costs 20 euros."


class Unreachable(HashedEmbedder):
    async def embed(self, texts: Any) -> Embeddings:
        raise ServiceFailed("The service is away.", reason="connection")


def texts() -> list[str]:
    return list(
        CorpusChunk.objects.order_by("document__name", "position").values_list("text", flat=True)
    )


def test_a_saved_application_has_its_files_read_and_embedded(process: Process):
    share("a/rules.md", RULES)
    share("prices.pdf", pdf("Page one.", "Tea costs 3 euros."), "application/pdf")
    share("deep/er/left-out.txt", "too deep")
    attach({**GUIDES, "max_depth": 2})

    found = process.look()

    assert found == {"a/rules.md": ("ready", 1, 1), "prices.pdf": ("ready", 2, 2)}
    chunk = CorpusChunk.objects.get(page=2)
    assert (chunk.text, chunk.model, chunk.dimension) == ("Tea costs 3 euros.", "hashed", 384)
    assert len(chunk.vector) == 4 * 384


def test_nothing_is_kept_for_applications_without_the_tool_or_files_or_that_are_disabled(
    process: Process,
):
    share("a.txt", "Dogs stay free.")
    make_application("no-tool", manifest=manifest(enabled=False))
    attach({"type": "user-defined", "content": "Hello"}, slug="words")
    attach({"type": "file", "url": "https://example.com/a.pdf"}, slug="elsewhere")
    attach(slug="disabled", is_enabled=False)

    process.look()

    assert not Corpus.objects.exists()


def test_a_changed_file_is_read_again_and_others_stay(process: Process):
    share("a.txt", "Dogs stay free.")
    share("b.txt", "Cats do not.")
    attach()
    embedder = process.embedder = HashedEmbedder()
    process.look()
    share("a.txt", "Dogs pay ten euros.")
    compare_soon()

    process.look()

    assert texts() == ["Dogs pay ten euros.", "Cats do not."]
    assert embedder.asked == [("Dogs stay free.",), ("Cats do not.",), ("Dogs pay ten euros.",)]


def test_a_change_that_nobody_told_of_is_noticed_after_a_while(process: Process, settings: Any):
    share("a.txt", "Dogs stay free.")
    attach()
    process.look()
    share("a.txt", "Dogs pay ten euros.")

    soon = process.look() and texts()
    Corpus.objects.update(compared_at=timezone.now() - timedelta(seconds=181))
    later = process.look() and texts()

    assert (soon, later) == (["Dogs stay free."], ["Dogs pay ten euros."])


def test_nothing_stays_of_what_is_no_longer_attached(process: Process):
    share("a.txt", "Dogs stay free.")
    share("b.txt", "Cats do not.")
    application = attach()
    process.look()
    application.manifest = manifest({"type": "file", "url": "files/public/guides/a.txt"})
    application.save()
    process.look()
    named = texts()
    files.delete(PUBLIC, "files/public/guides/a.txt")
    compare_soon()
    process.look()
    deleted = documents(), problem("a.txt"), texts()

    application.delete()
    process.look()

    assert named == ["Dogs stay free."]
    assert deleted == ({"a.txt": ("failed", 0, 0)}, deleted[1], [])
    assert deleted[1].startswith("The file does not exist, or is neither public")
    assert not Corpus.objects.exists()


def test_what_cannot_be_read_says_why_and_is_not_tried_again_until_it_changes(
    process: Process, settings: Any
):
    settings.CORPUS_CHUNKS = 2
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 5_000
    share("a.pdf", protected_pdf("secret"), "application/pdf")
    share("b.txt", "fits\n\n" + "word " * 200)
    share("c.txt", "no room")
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 10_000
    share("d.txt", "x" * 9_000)
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 5_000
    attach(GUIDES, {"type": "file", "url": "files/public/guides/e.txt"})

    found = process.look()

    assert found == {
        "a.pdf": ("failed", 0, 0),
        "b.txt": ("ready", 2, 2),
        "c.txt": ("failed", 0, 0),
        "d.txt": ("failed", 0, 0),
        "e.txt": ("failed", 0, 0),
    }
    assert problem("a.pdf") == "it is protected by a password."
    assert problem("c.txt").startswith("it has 1 passages, but only")
    assert problem("d.txt") == "The file is 9,000 bytes; the limit is 5,000."
    assert not CorpusDocument.objects.exclude(due_at=None).exists()
    share("a.pdf", pdf("Open."), "application/pdf")
    share("b.txt", "short")
    compare_soon()
    changed = process.look()
    assert (changed["a.pdf"], changed["b.txt"]) == (("ready", 1, 1), ("ready", 1, 1))


def test_files_above_the_limit_and_folders_that_cannot_be_listed_are_told_of(
    process: Process, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("apps.catalog.corpora.comparison.LEAST_DOCUMENTS", 1)
    settings.CORPUS_CHUNKS = 20
    share("a.txt", "Dogs stay free.")
    share("b.txt", "Cats do not.")
    attach(GUIDES, {"type": "folder", "url": "files/user-99/notes/"})

    process.look()

    row = Corpus.objects.get()
    assert (list(documents()), row.left_out) == (["a.txt"], 1)
    assert row.problem.startswith(
        "contexts[1]: the folder cannot be listed: The file 'files/user-99/notes/' does not exist"
    )


def test_only_the_owner_s_files_are_read_beside_the_shared_ones(process: Process):
    owner = make_operator()
    for bucket in (f"user-{owner.pk}", "user-99"):
        files.keep(bucket, "notes.txt", b"Dogs stay free.", "text/plain")
    contexts = [
        {"type": "file", "url": f"files/{bucket}/notes.txt"}
        for bucket in (f"user-{owner.pk}", "user-99")
    ]
    attach(*contexts, owner=owner)

    process.look()

    states = dict(CorpusDocument.objects.values_list("bucket", "state"))
    assert states == {f"user-{owner.pk}": "ready", "user-99": "failed"}


def test_without_a_model_the_text_is_there_and_vectors_are_tried_later(process: Process):
    share("a.txt", "Dogs stay free.")
    attach()
    process.embedder = Unreachable()
    process.look()
    first = CorpusDocument.objects.get()
    process.look()
    between = documents()
    CorpusDocument.objects.update(due_at=timezone.now())
    process.embedder = HashedEmbedder()

    later = process.look()

    assert (first.state, first.is_read, first.attempts) == ("failed", True, 1)
    assert first.problem.endswith("the semantic search is unavailable: The service is away.")
    assert first.due_at is not None
    assert first.due_at > timezone.now() + timedelta(seconds=20)
    assert between == {"a.txt": ("failed", 1, 0)}
    assert later == {"a.txt": ("ready", 1, 1)}


def test_another_model_makes_all_vectors_anew(process: Process):
    share("a.txt", "Dogs stay free.")
    application = attach()
    process.look()
    application.manifest = manifest(embedding_deployment_id="large")
    save_live(application)
    process.embedder = HashedEmbedder("large")

    process.look()

    assert process.asked == [None, "large"]
    assert set(CorpusChunk.objects.values_list("model", flat=True)) == {"large"}
    assert documents() == {"a.txt": ("ready", 1, 1)}


def test_the_next_look_takes_up_what_a_killed_process_left(process: Process):
    share("a.txt", "Dogs stay free.")
    attach()
    (number, _), *_ = process.indexer.find_pending_corpora()
    CorpusClaim(number, "dead").take()
    CorpusDocument.objects.create(
        corpus_id=number, bucket=PUBLIC, name="guides/a.txt", state="reading", attempts=1
    )

    assert process.look() == {"a.txt": ("ready", 1, 1)}


def test_a_document_that_ends_its_processes_is_given_up(process: Process):
    share("a.txt", "Dogs stay free.")
    attach()
    process.look()
    CorpusDocument.objects.update(is_read=False, state="reading", attempts=5)

    found = process.look()

    assert found["a.txt"][0] == "failed"
    assert problem("a.txt") == steps.GIVEN_UP


def test_a_paused_process_stores_nothing_after_another_one_took_over(process: Process):
    share("a.txt", "Dogs stay free.")
    attach()
    (number, _), *_ = process.indexer.find_pending_corpora()
    paused = CorpusClaim(number)
    paused.take()

    found = process.look()

    with pytest.raises(LeaseLost), paused.held():
        raise AssertionError("it holds nothing")
    assert found == {"a.txt": ("ready", 1, 1)}


def test_indexing_again_while_it_is_read_reads_it_once_more(process: Process):
    share("a.txt", "Dogs stay free.")
    attach()

    class Impatient(HashedEmbedder):
        async def embed(self, texts: Any) -> Embeddings:
            if not self.asked:
                await database_sync_to_async(index_again)(CorpusDocument.objects.all())
            return await super().embed(texts)

    embedder = process.embedder = Impatient()
    first = process.look()

    second = process.look()

    assert (first, second) == ({"a.txt": ("waiting", 0, 0)}, {"a.txt": ("ready", 1, 1)})
    assert len(embedder.asked) == 2


def test_text_that_databases_refuse_is_stored_without_it():
    found = storable_pages(PagedText((Page("Dogs\0 stay\ud800", 1, "\0"),), "page"))

    assert found == PagedText((Page("Dogs  stay\ufffd", 1, " "),), "page")


def test_a_file_that_there_was_no_room_for_is_read_when_another_one_goes(
    process: Process, settings: Any
):
    settings.CORPUS_CHUNKS = 2
    share("a.txt", "fits\n\n" + "word " * 200)
    share("b.txt", "no room")
    share("c.txt", "none either\n\n" + "word " * 200)
    attach()
    full = process.look()
    files.delete(PUBLIC, "files/public/guides/a.txt")
    compare_soon()
    process.look()

    found = process.look()

    refused = {"b.txt": ("failed", 0, 0), "c.txt": ("failed", 0, 0)}
    assert full == {"a.txt": ("ready", 2, 2), **refused}
    assert found == {"b.txt": ("ready", 1, 1), "c.txt": ("failed", 0, 0)}


def test_files_that_there_was_no_room_for_are_read_after_the_limit_was_raised(
    process: Process, settings: Any
):
    settings.CORPUS_CHUNKS = 1
    share("a.txt", "Dogs stay free.")
    share("b.txt", "Cats do not.")
    attach()
    full = process.look(), process.look()
    settings.CORPUS_CHUNKS = 2

    found = process.look()

    assert full[0] == full[1] == {"a.txt": ("ready", 1, 1), "b.txt": ("failed", 0, 0)}
    assert found == {"a.txt": ("ready", 1, 1), "b.txt": ("ready", 1, 1)}


def test_calls_of_a_deployment_count_as_those_of_the_application(process: Process):
    share("a.txt", "Dogs stay free.")
    application = attach(slug="travel")
    process.look()
    built_in = list(process.calls)
    application.manifest = manifest(embedding_deployment_id="large")
    save_live(application)
    process.embedder = HashedEmbedder("large")

    process.look()

    assert built_in == []
    (call,) = process.calls
    assert call.of.application == "travel"
    assert (call.of.version, call.of.door, call.of.bucket) == (2, "server", "server")
    assert isinstance(call.report, ModelCallReport)
    assert call.report.usage == (ModelUsage("large", 3, 0),)
    call_rows.write([call])
    row = ModelCall.objects.get()
    assert (row.application, row.deployment, row.run, row.bucket_kind) == (
        "travel",
        "large",
        None,
        "server",
    )


def test_an_uploaded_file_is_indexed_for_its_application_and_for_no_other(process: Process):
    row = make_application("desk")
    path = store_upload(row, "rules.md", ContentFile(RULES.encode()), "text/markdown").path
    folder = {"type": "folder", "url": "files/public/"}
    row.manifest = manifest({"type": "file", "url": path})
    save_live(row)
    attach({"type": "file", "url": path}, slug="other")
    attach({**folder, "max_depth": 5}, slug="folder")

    process.look()

    found = CorpusDocument.objects.values_list("corpus__application", "state", "problem")
    assert sorted(found) == [("desk", "ready", ""), ("other", "failed", MISSING)]
    own = LocalCorpus("desk", "")
    assert [one.address for one in async_to_sync(own.documents)()] == [path]
    assert not LocalCorpus("desk", "", with_own=False).rows().exists()
