"""Images and files are imported from a ZIP, and from messages that contain them."""

from __future__ import annotations

import base64
import json
from typing import Any, NoReturn

import pytest

from apps.chat.exports.conversation import markdown
from apps.chat.imports import attached_files
from apps.chat.imports.writer import import_file
from apps.conversations.access import own
from apps.conversations.branches import path
from apps.conversations.files.folder import store_file
from apps.conversations.models import Conversation
from apps.conversations.spoken import spoken_text
from apps.live.events import QuestionAdded
from apps.live.journal import journal
from apps.workspace.local.files import files
from apps.workspace.local.models import StoredFile
from tests.chat.imports.samples import (
    OPEN_WEBUI,
    PNG,
    chatgpt,
    chatgpt_node,
    file_of,
    pointer_to,
    zip_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"


def parts(*written: Any) -> dict[str, Any]:
    return {"content_type": "multimodal_text", "parts": [*written]}


SEEN = chatgpt(
    chatgpt_node(
        "q",
        None,
        "user",
        parts(pointer_to("file-Ab1"), pointer_to("file_9", "sediment"), "What are they?"),
        metadata={
            "attachments": [
                {"id": "file-Ab1", "name": "cat.png", "mime_type": "image/png"},
                {"id": "file-Cd2", "name": "plan.pdf", "mime_type": "application/pdf"},
            ]
        },
    ),
    chatgpt_node("d", "q", "tool", parts(pointer_to("file_0e", "sediment"))),
    chatgpt_node("a", "d", "assistant", "A cat."),
)
ZIP = {
    "conversations.json": json.dumps([SEEN]).encode(),
    "file-Ab1-cat.png": PNG,
    "dalle-generations/file_0e-5f6a.dat": PNG,
    "file-Cd2-plan.pdf": PDF,
}


def attachments_of(conversation: Conversation) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (said.text, [(one["type"], one["title"]) for one in said.attachments])
        for said in path(conversation)
    ]


def test_what_is_in_the_zip_becomes_attachments_and_a_notice_names_the_rest(grace, application):
    report = import_file(grace, application, zip_of(ZIP))

    found = own(grace).get()
    assert attachments_of(found) == [
        (
            "What are they?",
            [("image/png", "cat.png"), ("application/pdf", "plan.pdf")],
        ),
        ("A cat.", [("image/png", "picture.png")]),
    ]
    urls = [one["url"] for said in path(found) for one in said.attachments]
    assert [files.read(grace.bucket, url).content for url in urls] == [PNG, PDF, PNG]
    assert (report.conversations, report.messages, report.files) == (1, 2, 3)


def test_without_the_zip_and_in_a_trial_nothing_is_stored(grace, application):
    trial = import_file(grace, application, zip_of(ZIP), is_trial=True)
    report = import_file(grace, application, file_of(SEEN))

    said = path(own(grace).get())
    assert [one.attachments for one in said] == [[], []]
    assert (said[0].text, said[0].state) == (
        "What are they?",
        {"left_out": ["Picture", "Picture", "File “plan.pdf”"]},
    )
    assert (trial.files, report.files, StoredFile.objects.count()) == (0, 0, 0)


def test_what_cannot_be_kept_is_left_out(grace, application, settings):
    large = PDF + bytes(len(PNG))
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = len(large) - 1
    import_file(grace, application, zip_of({**ZIP, "file-Cd2-plan.pdf": large}))

    assert attachments_of(own(grace).get())[0][1] == [("image/png", "cat.png")]


def test_a_zip_that_grows_is_read_no_further_than_the_limit(grace, application, monkeypatch):
    monkeypatch.setattr(attached_files, "MOST_BYTES", len(PNG) + 10)

    report = import_file(grace, application, zip_of(ZIP))

    assert report.files == 1
    assert StoredFile.objects.get().name.endswith("/cat.png")


def test_a_picture_in_a_message_of_open_webui_comes_along(grace, application):
    document = json.loads(json.dumps(OPEN_WEBUI))
    inline = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    document["chat"]["history"]["messages"]["m1"]["files"] = [
        {"type": "image", "url": inline},
        {"type": "image", "url": "data:image/png;base64,%%%"},
        {"type": "image", "url": "https://other.example/picture.png"},
    ]

    import_file(grace, application, file_of(document))

    [asked, *_] = attachments_of(own(grace).get())
    assert asked == ("15 * 17?", [("image/png", "picture.png")])


def no_room(*_: Any) -> NoReturn:
    raise RuntimeError("no room")


def test_files_go_where_their_conversation_was_not_written(grace, application, monkeypatch):
    monkeypatch.setattr("apps.chat.imports.writer.write_messages", no_room)

    with pytest.raises(RuntimeError):
        import_file(grace, application, zip_of(ZIP))

    assert not StoredFile.objects.exists()
    assert not Conversation.objects.exists()


def test_files_go_where_a_later_one_of_the_conversation_cannot_be_stored(
    grace, application, monkeypatch
):
    stores = iter((store_file, no_room))
    name = "apps.chat.imports.attached_files.store_file"
    monkeypatch.setattr(name, lambda *given: next(stores)(*given))

    with pytest.raises(RuntimeError):
        import_file(grace, application, zip_of(ZIP))

    assert not StoredFile.objects.exists()
    assert not Conversation.objects.exists()


def test_a_missing_picture_is_a_notice_on_the_page_and_in_exports_and_no_word_of_the_user(
    grace, application
):
    only = chatgpt(
        chatgpt_node("q", None, "user", parts(pointer_to("file-Ab1"))),
        chatgpt_node("a", "q", "assistant", "I cannot see it."),
        title="",
    )
    import_file(grace, application, file_of(only))
    found = own(grace).get()

    question, answer = path(found)
    [added, *_] = [
        event.message for *_, event in journal.read(found.pk, 0) if isinstance(event, QuestionAdded)
    ]

    assert (question.text, found.title) == ("", "Picture")
    assert (added["text"], added["left_out"]) == ("", ["Picture"])
    assert spoken_text(question).text == (
        "(This message had attachments that are not available: Picture.)"
    )
    assert (spoken_text(question).state, spoken_text(answer).text) == ({}, "I cannot see it.")
    assert "*Not imported: Picture*" in markdown(found)


def test_a_user_who_writes_about_an_import_keeps_their_words(grace, application):
    said = "Why does it say *Picture: not imported.* here?"
    asked = chatgpt(
        chatgpt_node("q", None, "user", said), chatgpt_node("a", "q", "assistant", "No idea.")
    )

    import_file(grace, application, file_of(asked))

    assert path(own(grace).get())[0].text == said
