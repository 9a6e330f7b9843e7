import pytest

from apps.manifest.markdown.chat_place import ChatPlace, ChatPlaceInvalid, read_chat_place


def test_a_place_has_a_title_a_prompt_and_the_tools_that_are_left():
    text = "---\ntitle: Orders\ntools: [orders, get_weather]\n---\nThey look at orders.\n"

    found = read_chat_place("orders", text)

    assert found == ChatPlace("orders", "Orders", "They look at orders.", ("orders", "get_weather"))


@pytest.mark.parametrize(
    ("line", "tools"),
    [("", None), ("tools:\n", ()), ("tools: []\n", ()), ("tools: a b\n", ("a", "b"))],
)
def test_a_place_narrows_the_tools_only_if_it_says_so(line, tools):
    assert read_chat_place("x", f"---\ntitle: X\n{line}---\n").tools == tools


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Orders", "front matter"),
        ("---\ntools: [a]\n---\n", "title: is missing"),
        (f"---\ntitle: {'x' * 101}\n---\n", "title: has 101 characters; the limit is 100"),
        ("---\ntitle: X\ntool: a\n---\n", "tool: is not a key of a place; use title or tools"),
        ("---\ntitle: X\ntools: {a: b}\n---\n", "tools: must be a list of tool names"),
    ],
)
def test_what_is_wrong_with_a_place_is_told_with_its_key(text, problem):
    with pytest.raises(ChatPlaceInvalid, match=problem):
        read_chat_place("x", text)
