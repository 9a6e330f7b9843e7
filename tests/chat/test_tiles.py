"""Tiles that distinguish applications."""

import pytest

from apps.catalog.icons.values import COLOURS, colour_of, letters_of
from tests.sites.fork_server import ROOT


@pytest.mark.parametrize(
    ("title", "letters"),
    [
        ("Travel desk", "Td"),
        ("Travel", "T"),
        ("Travel & expenses of all", "Te"),
        ("«Погода» в Осло", "Пв"),
        ("🦊", "🦊"),
        ("", ""),
    ],
)
def test_the_letters_are_those_of_the_first_two_words(title, letters):
    assert letters_of(title) == letters


def test_the_colour_is_chosen_by_the_slug_and_the_page_has_it():
    styles = (ROOT / "apps/chat/static/chat/styles/tiles.css").read_text()

    assert (colour_of("travel"), colour_of("travel-2")) == (6, 11)
    assert styles.count(".monogram[data-tile=") == COLOURS
