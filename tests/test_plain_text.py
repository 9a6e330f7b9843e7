import pytest

from apps.plain_text import plain_text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# Plan\n\nWalk **through** *Alfama*.", "Plan Walk through Alfama."),
        ("Title\n=====\n\nText\n\n---\n\nMore", "Title Text More"),
        ("- one\n- [x] two\n  * three\n1. four\n2) five", "one two three four five"),
        ("> quoted\n> > twice", "quoted twice"),
        ("See [[Lisbon]] and [[it|Porto]].", "See Lisbon and it."),
        ("[Belém](https://example.com) ![plan](files/x.png)", "Belém plan"),
        ("<https://example.com> <b>bold</b>", "https://example.com <b>bold</b>"),
        ("```python\nprint(1)\n```\nThen `x = 1`.", "print(1) Then x = 1."),
        ("| Name | Price |\n|---|:-:|\n| Tasca | 20 |", "Name · Price Tasca · 20"),
        ("***both*** ~~gone~~ __strong__ _soft_", "both gone strong soft"),
        ("a snake_case_name, 2 * 3 * 4, 1 - 2, C# and #tag", None),
        ("5 < 6 and a | b", "5 < 6 and a · b"),
        (r"\*not emphasized\*", "*not emphasized*"),
        ("---\ntags: [a]\n---\nText", "Text"),
        ("cut in the **midd", "cut in the **midd"),
        ("[cut](https://exam", "cut"),
        ("", ""),
    ],
)
def test_markup_is_removed(markdown: str, text: str | None):
    assert plain_text(markdown) == (markdown if text is None else text)
