"""The paths and values of changed fields in words."""

import pytest

from apps.catalog.models import Application
from apps.console.templatetags.field_labels import field_label, value_words


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("slug", "Slug"),
        ("manifest.tool_sets[1].base_url", "Tool sets 2 › Base URL"),  # noqa: RUF001
        ("manifest.orchestrator.max_iterations", "Orchestrator › Max iterations"),  # noqa: RUF001
        ('skill My-Tone["examples/letter.md"]', "Skill My-Tone › examples/letter.md"),  # noqa: RUF001
        ("$", "All fields"),
    ],
)
def test_the_path_of_a_change_is_shown_as_the_labels_of_its_fields(path: str, label: str):
    assert field_label(path, Application._meta) == label
    assert field_label(path, "") == label


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"title": "Where is it?", "auto_submit": true}', "Title: Where is it?\nAuto submit: yes"),
        (
            '[{"url": "a", "tags": []}, null]',
            "\N{BULLET}\n  URL: a\n  Tags: nothing\n\N{BULLET} nothing",
        ),
        ('{"text": "One\\ntwo"}', "Text: One\n  two"),
        ('"Travel"', '"Travel"'),
        ("{}", "{}"),
        ('{"title": "cut \N{HORIZONTAL ELLIPSIS}', '{"title": "cut \N{HORIZONTAL ELLIPSIS}'),
        ("Line 1\nLine 2", "Line 1\nLine 2"),
    ],
)
def test_objects_and_lists_are_shown_as_lines_instead_of_json(text: str, words: str):
    assert value_words(text) == words
