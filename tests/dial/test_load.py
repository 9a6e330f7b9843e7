"""Many users at the same time, each of whom signs in, attaches a file and needs two tools."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves
from tests.dial.crowd import ADDED
from tests.dial.installation import DOOR, said
from tests.dial.people import Person, all_at_once
from tests.dial.watched_site import ask as look_inside
from tests.dial_core.apart import CoreApart, serve_core_apart
from tests.dial_core.mcp_server import serve_mcp
from tests.load.processes import children, connections, memory, until
from tests.sites.serving import serve_process

PEOPLE = 60
MANY = 300
"""The number of users in each group; the groups repeat as long as there is time."""
WARM_UP = 40
SECONDS = 400.0
"""The timeout for all users on a busy machine. They compute for half a minute."""
SIGN_IN_SECONDS = "300"
MOST_GROWTH = 64 * 1024 * 1024
"""The maximum growth of the memory, from the warm-up to the end. The allocator keeps what five
times as many concurrent runs need for a moment, about 20 MB, or 55 MB if all computed at the same
moment. A leaked run would also be visible by its tasks, sockets or session."""
MARK = re.compile(r"m\d+x")
TOKEN = "Bearer token-test"


@dataclass(frozen=True, slots=True)
class Place:
    """The site and its Core, each in a separate process."""

    core: CoreApart
    folder: Path
    pid: int

    def inside(self) -> dict[str, Any]:
        """Return the site's resources, except those that depend on the number of connections."""
        return {**look_inside(self.folder), "children": len(children(self.pid))}

    def at_rest(self) -> dict[str, Any]:
        """The same, once the rows of its runs are written and no job is running."""
        passing, found = {"RunSummaryWriter.work", "EmbeddedWorker.work"}, list[dict[str, Any]]()

        def is_resting() -> bool:
            found.append(self.inside())
            return passing.isdisjoint(found[-1]["tasks"])

        assert until(SECONDS, is_resting)
        return found[-1]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with (
        serve_mcp("authorization", TOKEN) as desk,
        serve_core_apart("tests.dial.crowd") as core,
        serve_process(
            tmp_path,
            "tests.dial.watched_site",
            DIAL_URL=core.url,
            DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS=SIGN_IN_SECONDS,
        ) as (site, process),
    ):
        core.do("open", door=f"{site.url}{DOOR}", desk=desk)
        yield Place(core, tmp_path, process.pid)


def check(person: Person) -> None:
    reply = person.reply
    assert reply.status == 200, reply.text
    text = said(reply)
    assert text.startswith(f"{ADDED + person.number} {person.mark} files/"), reply.text[-2000:]
    assert {*MARK.findall(json.dumps(reply.events()))} == {person.mark}
    assert reply.events()[-1]["choices"][0]["finish_reason"] == "stop"
    assert reply.text.endswith("data: [DONE]\n\n")
    assert [question["method"] for question in person.asked] == ["toolset/signin"]


async def crowd(place: Place, numbers: range) -> None:
    for person in await all_at_once(place.core.url, numbers, SECONDS):
        check(person)
    assert place.core.do("wait_for_keys", seconds=SECONDS)


async def leave_nothing(place: Place, crowds: Iterable[range]) -> None:
    fresh, people = connections(place.pid), 0
    await crowd(place, range(WARM_UP))
    before, memory_before = place.at_rest(), memory("VmRSS", place.pid)

    for numbers in crowds:
        await crowd(place, numbers)
        people = numbers.stop

    assert until(SECONDS, lambda: connections(place.pid) <= fresh)  # pools keep some for a while
    assert place.at_rest() == before
    assert memory("VmRSS", place.pid) - memory_before < MOST_GROWTH
    assert place.core.do("report") == {
        "prompts": people,
        "opened": 0,  # the servers speak the newest revision, which has no sessions
        "ended": 0,
        "late": [],
        "keys": 0,
        "channels": 0,
    }


@pytest.mark.slow("a load of many requests at a time")
@proves("G-60")
@pytest.mark.timeout(3 * SECONDS)
async def test_everybody_gets_their_own_and_nothing_is_left_over(place: Place):
    await leave_nothing(place, [range(WARM_UP, WARM_UP + PEOPLE)])


@pytest.mark.soak
@pytest.mark.timeout(0)
async def test_crowd_after_crowd_leaves_nothing_over(place: Place, request: pytest.FixtureRequest):
    end = time.monotonic() + request.config.getoption("--soak-seconds")
    later = (range(number, number + MANY) for number in count(WARM_UP + MANY, MANY))
    crowds = chain(
        [range(WARM_UP, WARM_UP + MANY)], takewhile(lambda _: time.monotonic() < end, later)
    )

    await leave_nothing(place, crowds)
