from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from tests.access.askers import APPLICATIONS, USABLE, Asker, make_askers
from tests.access.doors import KEY_DOORS, KEY_LISTS, PAGE_DOORS, PAGE_LISTS, Door, House, open_house
from tests.chat.scripts import settled
from tests.contract import proves

pytestmark = pytest.mark.django_db

MISSING = "missing"
DOORS = {"page": PAGE_DOORS, "key": KEY_DOORS}
LISTS = {"page": PAGE_LISTS, "key": KEY_LISTS}


@pytest.fixture
def askers() -> Mapping[str, Asker]:
    return make_askers()


def entitled(askers: Mapping[str, Asker], kind: str) -> dict[str, Asker]:
    """Return the callers that can use a door: with a browser, or without one."""
    return {name: one for name, one in askers.items() if one.has_browser == (kind == "page")}


def expected(names: Mapping[str, Asker]) -> dict[str, list[str]]:
    return {name: sorted(USABLE[name]) for name in names}


def without_names(text: str, slug: str) -> str:
    """Remove what differs between answers."""
    return re.sub(r'nonce="[^"]*"|value="[A-Za-z0-9]{64}"', "", text.replace(slug, MISSING))


async def admitted(house: House, door: Door, asker: Asker) -> list[str]:
    """Return the applications that are answered for. All others look nonexistent."""
    missing = await door(house, asker, MISSING)
    assert missing[0] in (401, 404, 302), missing
    found = []
    for slug in sorted(APPLICATIONS):
        status, text = await door(house, asker, slug)
        if (status, without_names(text, slug)) != (missing[0], without_names(missing[1], MISSING)):
            assert status in (200, 201, 202), (slug, status, text)
            found.append(slug)
    return found


STORED = ("submission", "A2A")
"""Doors whose runs belong to their caller."""


@pytest.mark.slow("tries every door for every caller")
@proves("access")
@pytest.mark.parametrize("kind", DOORS)
async def test_each_door_knows_only_what_its_caller_may_use(kind, askers, subtests):
    for name, door in DOORS[kind].items():
        house, those = open_house(), entitled(askers, kind)
        if name in STORED:  # without a key, they are for pages, which send a cookie
            those = {who: one for who, one in those.items() if one.has_key or one.has_browser}

        found = {who: await admitted(house, door, one) for who, one in those.items()}

        await settled(house.hub)
        with subtests.test(name):
            assert found == expected(those)


@proves("access")
@pytest.mark.parametrize("kind", LISTS)
async def test_each_list_has_only_what_its_caller_may_use(kind, askers, subtests):
    house, those = open_house(), entitled(askers, kind)
    for name, list_of in LISTS[kind].items():
        found = {who: (await list_of(house, one, ""))[1] for who, one in those.items()}

        named = {
            who: sorted(slug for slug in APPLICATIONS if re.search(rf"The {slug}[<\"\s]", text))
            for who, text in found.items()
        }
        with subtests.test(name):
            assert named == expected(those)


def test_every_caller_of_the_table_is_made(askers):
    assert askers.keys() == USABLE.keys()
