"""All calls that write, by table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.writes.accounts import ACCOUNTS
from tests.writes.admin import OWN_PAGES, site_pages
from tests.writes.api import API, STUDIO
from tests.writes.calls import Write
from tests.writes.pages import PAGES
from tests.writes.programs import FRAMES, PROGRAMS
from tests.writes.world import World

TABLES: dict[str, Callable[[World], Iterable[Write]]] = {
    "accounts": lambda world: ACCOUNTS,
    "pages": lambda world: PAGES,
    "API": lambda world: API,
    "studio": lambda world: STUDIO,
    "admin's own pages": lambda world: OWN_PAGES,
    "admin": site_pages,
    "programs": lambda world: PROGRAMS,
    "frames": lambda world: FRAMES,
}


def all_writes(world: World) -> list[Write]:
    return [write for table in TABLES.values() for write in table(world)]
