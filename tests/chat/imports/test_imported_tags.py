"""Tags of conversations in exports and imports."""

from __future__ import annotations

import pytest

from apps.chat.exports.conversation import document
from apps.chat.imports.writer import import_file
from apps.conversations.keeping.tags import add_known_tags, tags_of
from apps.conversations.models import Conversation, Message
from tests.chat.imports.samples import OPEN_WEBUI, file_of

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def tags_of_all() -> list[str]:
    """Return the tags of the only conversation."""
    conversation = Conversation.objects.get()
    return tags_of([conversation.pk])[conversation.pk]


def test_an_export_contains_the_tags_and_an_import_brings_them_back(grace, application):
    conversation = Conversation.objects.create(
        application=application, owner="user-902", title="Oslo"
    )
    question = Message.objects.create(conversation=conversation, role="user", text="Hi")
    Message.objects.create(
        conversation=conversation, role="assistant", text="Hello", parent=question
    )
    add_known_tags(conversation, ["work", "Trips"])
    exported = document(conversation)
    conversation.delete()

    import_file(grace, application, file_of(exported))

    assert exported["tags"] == ["Trips", "work"]
    assert tags_of_all() == ["Trips", "work"]


def test_imported_tags_stay_within_the_limits(grace, application):
    names = ["x" * 41, "a,b", "", 7, "  spaced   out ", *(f"tag {number}" for number in range(20))]

    import_file(grace, application, file_of({**OPEN_WEBUI, "meta": {"tags": names}}))

    assert tags_of_all() == sorted(["spaced out", *(f"tag {number}" for number in range(9))])
