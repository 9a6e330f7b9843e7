"""The lifetime and the memory limit of cached documents."""

from uuid import uuid4

import pytest

from apps.capabilities.documents import cache as module
from apps.capabilities.documents.cache import SECONDS, DocumentCache, DocumentKey, most_bytes
from apps.capabilities.documents.index import DocumentIndex
from apps.conversations.files.folder import folder_of
from apps.conversations.models import Conversation
from apps.documents.structure import Page, PagedText
from tests.capabilities.manifests import manifest
from tests.catalog.rows import store_application
from tests.contract import proves


def document(characters: int = 10) -> DocumentIndex:
    return DocumentIndex("a.txt", "text/plain", "", PagedText((Page("word " * (characters // 5)),)))


def key(name: str, folder: str = "", owner: str = "user-1", version: str = "1") -> DocumentKey:
    return DocumentKey(owner, folder, f"files/{name}", version)


@proves("G-54")
def test_a_document_dies_after_a_day():
    now = 0.0
    kept = DocumentCache(lambda: now)
    one = document()
    kept.put(key("a"), one)

    now = SECONDS - 1
    assert kept.get(key("a")) is one
    now = SECONDS
    assert kept.get(key("a")) is None
    assert one.is_dropped


def test_owner_conversation_and_version_tell_documents_apart():
    kept = DocumentCache()
    kept.put(key("a"), document())

    assert kept.get(key("a", owner="user-2")) is None
    assert kept.get(key("a", folder="conversations/x/")) is None
    assert kept.get(key("a", version="2")) is None


def test_what_belongs_to_nobody_is_not_kept():
    kept = DocumentCache()
    kept.put(key("a", owner=""), document())

    assert kept.entries == {}


@pytest.mark.parametrize(
    ("chunks", "megabytes"), [(0, 64), (4_000, 64), (20_000, 234), (400_000, 234)]
)
def test_the_cache_has_room_for_the_chunks_of_an_application(settings, chunks, megabytes):
    settings.CORPUS_CHUNKS = chunks

    assert most_bytes() // 2**20 == megabytes


def test_the_least_recently_used_one_makes_room(monkeypatch):
    monkeypatch.setattr("apps.capabilities.documents.cache.LEAST_BYTES", 2**20)
    monkeypatch.setattr("apps.capabilities.documents.cache.MOST_CHUNKS", 0)
    kept = DocumentCache()
    first, second, third = (document(100_000) for _ in range(3))
    kept.put(key("1"), first)
    kept.put(key("2"), second)
    kept.get(key("1"))

    kept.put(key("3"), third)

    assert [one.is_dropped for one in (first, second, third)] == [False, True, False]


@proves("G-54")
@pytest.mark.django_db
def test_it_is_forgotten_with_its_conversation():
    application = store_application(
        slug="desk", title="Desk", manifest=manifest().model_dump(mode="json")
    )
    conversation = Conversation.objects.create(application=application, owner="user-1", title="")
    own, other = folder_of(conversation.pk), folder_of(uuid4())
    module.cache.put(key("a", own), document())
    module.cache.put(key("b", other), document())

    conversation.delete()

    kept = {one.folder for one in module.cache.entries}
    assert kept & {own, other} == {other}  # other tests may have left documents
    module.cache.forget_folder(other)
