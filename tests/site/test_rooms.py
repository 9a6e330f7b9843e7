"""The picture of the rooms in the README is that of the contract of imports."""

from __future__ import annotations

from tools.rooms.picture import README, lines_of, with_picture


def test_the_picture_is_the_contract():
    readme = README.read_text(encoding="utf-8")
    assert with_picture(readme) == readme, "Run python -m tools.rooms."


def test_a_comment_stands_beside_short_names_and_below_long_ones():
    long = " | ".join(["manifest"] * 4)
    assert [*lines_of("runs", "one run")] == ["    runs                          one run"]
    assert [*lines_of(long, "what is declared")] == [f"    {long}", " " * 34 + "what is declared"]
