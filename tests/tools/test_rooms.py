"""The diagram of the layers in docs/architecture.md matches the import contract."""

from __future__ import annotations

from tools.rooms.picture import PAGE, lines_of, with_picture


def test_the_picture_is_the_contract():
    page = PAGE.read_text(encoding="utf-8")
    assert with_picture(page) == page, "Run python -m tools.rooms."


def test_a_comment_stands_beside_short_names_and_below_long_ones():
    long = " | ".join(["manifest"] * 4)
    assert [*lines_of("runs", "one run")] == ["    runs                          one run"]
    assert [*lines_of(long, "what is declared")] == [f"    {long}", " " * 34 + "what is declared"]
