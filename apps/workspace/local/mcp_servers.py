"""MCP servers that are programs: rows of an administrator, and those that come with us.

They are cached in the process for a moment.
"""

import sys
from dataclasses import dataclass, field

from channels.db import database_sync_to_async
from django.conf import settings

from apps.aged_cache import AgedCache
from apps.errors import NotRegistered, Unsupported
from apps.workspace.local.models import McpServer

WEB_SEARCH = "duckduckgo"
"""The program that `WEB_SEARCH_COMMAND` starts."""


@dataclass(frozen=True, slots=True)
class RegisteredServer:
    """A program to start; an edited row (another `version`) is another server.

    One that comes with us (`is_built_in`) or that a setting names has no row: `id` and `version` are 0.
    """

    id: int
    version: int
    name: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    working_directory: str = ""
    is_built_in: bool = False


_kept = AgedCache[str, RegisteredServer]()


def forget() -> None:
    _kept.clear()


async def find(name: str) -> RegisteredServer:
    """An enabled server, no older than `CATALOG_MAX_AGE_SECONDS`. Raises `Unsupported`, `NotRegistered`."""
    found = await _kept.renewed(
        name,
        settings.CATALOG_MAX_AGE_SECONDS,
        lambda known: database_sync_to_async(look_up)(name),
    )
    if found is None:
        raise NotRegistered(
            f"There is no MCP server named {name[:100]!r}, or it is not enabled. "
            "An administrator registers it."
        )
    return found


def look_up(name: str) -> RegisteredServer | None:
    """A row replaces a program of the same name that comes with us, or switches it off.

    Raises `Unsupported` for a row that was saved without validation.
    """
    row = McpServer.objects.filter(name=name).first()
    if row is None:
        return built_in(name) or named_by_setting(name)
    if not row.is_enabled:
        return None
    try:
        environment = row.parsed_environment()
    except ValueError as error:
        raise Unsupported(f"The MCP server {name!r} cannot be started: {error}") from error
    return RegisteredServer(
        id=row.pk,
        version=row.version,
        name=row.name,
        command=row.command,
        arguments=tuple(row.arguments),
        environment=tuple(sorted(environment.items())),
        working_directory=row.working_directory,
    )


def built_in(name: str) -> RegisteredServer | None:
    """A module that the Python of this installation runs."""
    if name not in settings.MCP_PROGRAMS:
        return None
    module, names = settings.MCP_PROGRAMS[name]
    return RegisteredServer(
        id=0,
        version=0,
        name=name,
        command=sys.executable,
        arguments=("-m", module),
        environment=tuple((one, str(getattr(settings, one))) for one in names),
        working_directory=str(settings.BASE_DIR),
        is_built_in=True,
    )


def named_by_setting(name: str) -> RegisteredServer | None:
    if name != WEB_SEARCH or not settings.WEB_SEARCH_COMMAND:
        return None
    command, *arguments = settings.WEB_SEARCH_COMMAND
    return RegisteredServer(0, 0, name, command, tuple(arguments))
