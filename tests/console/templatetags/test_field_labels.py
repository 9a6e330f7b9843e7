"""The fields and values of changes in words."""

import pytest

from apps.catalog.history.display import RenderedDifference
from apps.catalog.history.merge import Clash
from apps.catalog.models import Application
from apps.console.templatetags.field_labels import field_label, value_words
from apps.workspace.local.deployments.deployment import Deployment

NEXT = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
TOOLSET = {"type": "rest-api", "name": "weather"}


def changed(path: str, before: str = "", *items: object) -> RenderedDifference:
    return RenderedDifference(path, "changed", before, "", [], items)


def test_the_fields_of_an_application_have_the_words_of_the_studio():
    path = "manifest.tool_sets[1].base_url"

    label = NEXT.join(("Tools", "weather", "Service URL"))
    assert field_label(changed(path, "", TOOLSET), Application._meta) == label
    assert field_label(Clash(path, "", "", "", (TOOLSET,)), Application._meta) == label


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("api_key_env", "API key variable"),
        ("parameters.top_p", NEXT.join(("Parameters", "Top p"))),
        ("fallbacks[0]", "Fallbacks 1"),
        ("travel: skill tone.text", NEXT.join(("Travel: skill tone", "Text"))),
        ("$", "All fields"),
    ],
)
def test_the_fields_of_other_rows_have_the_names_of_their_columns(path: str, label: str):
    assert field_label(changed(path), Deployment._meta) == label


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("x", '{"title": "Where is it?", "is_on": true}', "Title: Where is it?\nIs on: yes"),
        (
            "x",
            '[{"url": "a", "tags": []}, null]',
            "\N{BULLET}\n  URL: a\n  Tags: nothing\n\N{BULLET} nothing",
        ),
        ("x", '{"text": "One\\ntwo"}', "Text: One\n  two"),
        ("x", '"Travel"', '"Travel"'),
        ("x", "{}", "{}"),
        ("x", '{"title": "cut \N{HORIZONTAL ELLIPSIS}', '{"title": "cut \N{HORIZONTAL ELLIPSIS}'),
        ("x", "Line 1\nLine 2", "Line 1\nLine 2"),
    ],
)
def test_objects_and_lists_are_shown_as_lines_instead_of_json(path: str, text: str, words: str):
    assert value_words(changed(path, text), "before") == words


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        (
            "manifest.conversation_starters",
            '{"starters": [{"title": "Hi", "text": "Hi!"}]}',
            "Starters:\n  \N{BULLET}\n    Button: Hi\n    Question: Hi!",
        ),
        ("manifest.features", '{"memory": {"prime": 3}}', "Memory:\n  Memories in the prompt: 3"),
        (
            "manifest.tool_sets[0]",
            '{"base_url": "/", "name": "weather"}',
            "Service URL: /\nName: weather",
        ),
        (
            "manifest.tool_sets[0].tools[0].open_ai_tool.function.parameters",
            '{"properties": {"city": {"type": "string"}}}',
            "Properties:\n  city:\n    Type: string",
        ),
    ],
)
def test_the_values_in_a_manifest_have_the_words_of_the_studio(path: str, text: str, words: str):
    assert value_words(changed(path, text, TOOLSET), "before") == words
