"""Answers as users read them."""

from hypothesis import given
from hypothesis import strategies as st

from apps.capabilities.rest.response_text import format_text
from tests.contract import proves
from tests.tables import each_row


@proves("8")
@each_row(
    ("content_type", "text", "shown"),
    [
        (
            "application/json",
            '{"a":[1,"é"]}',
            '```json\n{\n    "a": [\n        1,\n        "é"\n    ]\n}\n```',
        ),
        ("application/problem+json; charset=utf-8", "[]", "```json\n[]\n```"),
        ("application/json", "{broken", "```json\n{broken\n```"),
        ("application/json", "[" * 10_000, f"```json\n{'[' * 10_000}\n```"),
        ("text/xml", "<a><b>1</b><c/></a>", "```xml\n<a>\n  <b>1</b>\n  <c/>\n</a>\n```"),
        ("text/html; charset=utf-8", "<p>x</p>", "```html\n<p>x</p>\n```"),
        (
            "text/html",
            '<!DOCTYPE html><html><head><META a="b"><title>T</title></head><body><br></body></html>',
            '```html\n<!DOCTYPE html>\n<html>\n  <head>\n    <META a="b">\n    <title>T</title>\n'
            "  </head>\n  <body>\n    <br>\n  </body>\n</html>\n```",
        ),
        (
            "application/xml",
            "<a><link><b/></link></a>",
            "```xml\n<a>\n  <link>\n    <b/>\n  </link>\n</a>\n```",
        ),
        ("text/markdown", "# A", "```markdown\n# A\n```"),
        (
            "text/csv",
            "name,n\nä|b,`1`\n\nshort\n",
            "| name | n |\n| --- | --- |\n| ä\\|b | \\`1\\` |\n| short |  |",
        ),
        ("text/plain", "a```b", "````text\na```b\n````"),
        ("", "plain", "```text\nplain\n```"),
        ("text/evil`\n# head", "x", "```evil#head\nx\n```"),
        ("application/json", "", "No response text available"),
    ],
)
def test_an_answer_is_shown_by_its_type(content_type, text, shown):
    assert format_text(text, content_type) == shown


@proves("8")
def test_a_long_answer_is_cut_with_a_notice():
    shown = format_text("x" * 20_001, "text/plain")

    assert shown == f"```text\n{'x' * 20_000}\n… (cut: 1 more characters)\n```"


@proves("8")
def test_a_long_table_is_cut_with_a_notice():
    shown = format_text("a\n" + "1\n" * 60, "text/csv")

    assert shown == "| a |\n| --- |\n" + "| 1 |\n" * 49 + "| 1 |\n\n… (cut after 50 rows)"


@proves("8")
@given(
    text=st.text(),
    content_type=st.sampled_from(["text/csv", "application/json", "text/xml", "text/plain", "x"]),
)
def test_any_text_can_be_shown(text, content_type):
    assert format_text(text, content_type)
