"""Titles of predefined items in lists."""

from __future__ import annotations

import pytest

from apps.catalog.content.items import ItemKind, item_of
from apps.catalog.content.titles import title_of


@pytest.mark.parametrize(
    ("kind", "name", "text", "title"),
    [
        ("toolset", "ddg", '{"type": "mcp", "name": "ddg", "title": "DuckDuckGo"}', "DuckDuckGo"),
        ("toolset", "ddg", '{"title": {"de": "Suche", "en": "Search"}}', "Search"),
        ("toolset", "web_search", '{"type": "mcp", "name": "web"}', "Web search"),
        ("toolset", "broken", "{", "Broken"),
        ("tool", "web_search", "{}", "Web search"),
        ("agent", "researcher", "---\ntitle: The researcher\n---\nFind it.", "The researcher"),
        ("agent", "code-reviewer", "Without front matter.", "Code reviewer"),
        ("prompt", "gpt_prompt", "---\ntitle: GPT prompt\n---\nAnswer.", "GPT prompt"),
        ("prompt", "memory_rules", "Remember.", "Memory rules"),
    ],
)
def test_an_item_has_the_title_in_its_text_or_its_name_in_words(
    kind: ItemKind, name: str, text: str, title: str
):
    assert title_of(item_of(kind, name, "layer", "location", text)) == title


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("---\ntitle: GPT prompt\n---\n\nAnswer.\n", "Answer."),
        ("---\ntitle: A\nauthor: B\n---\nAnswer.", "---\ntitle: A\nauthor: B\n---\nAnswer."),
        ("---\nAnswer.", "---\nAnswer."),
    ],
)
def test_the_model_does_not_see_the_title_of_a_prompt(text: str, value: str):
    assert item_of("prompt", "answers", "layer", "location", text).value == value


def test_a_prompt_with_only_a_title_is_empty():
    item = item_of("prompt", "answers", "layer", "location", "---\ntitle: Answers\n---\n")

    assert item.problem == "the file is empty."
