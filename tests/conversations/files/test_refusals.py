"""The words in which a rejected file is explained."""

from __future__ import annotations

import pytest

from apps.conversations.files.refusals import names_of_types, size_refusal, type_refusal

DOCUMENT = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (
            ("image/png", "image/jpeg", "application/pdf", "text/html", "text/plain", "text/csv"),
            "PNG, JPEG, PDF, HTML, text, CSV",
        ),
        (("image/*", "text/*", "text/plain", "audio/*"), "images, text, audio"),
        ((DOCUMENT, "application/yaml", "text/markdown"), "DOCX, YAML, Markdown"),
        (("application/x-made-up",), "application/x-made-up"),
        ((), ""),
    ],
)
def test_types_have_the_names_that_people_use(patterns, names):
    assert names_of_types(patterns) == names


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Setup.EXE", "Can’t attach .exe files. Allowed: PDF."),
        ("Makefile", "Can’t attach this type of file. Allowed: PDF."),
        ("notes.of-last-november", "Can’t attach this type of file. Allowed: PDF."),
        ("lie.pdf", "The content of the file doesn’t match its extension. Allowed: PDF."),
    ],
)
def test_a_file_is_rejected_by_its_extension(name, words):
    assert type_refusal(name, ("application/pdf",)) == words


@pytest.mark.parametrize(
    ("limit", "size"),
    [(1000, "1 KB"), (1_500_000, "1.5 MB"), (10_485_760, "10 MB"), (50_000_000, "50 MB")],
)
def test_the_limit_is_readable(limit, size):
    assert size_refusal(limit) == f"Too large. The limit is {size}."
