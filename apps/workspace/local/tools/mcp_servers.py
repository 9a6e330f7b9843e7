"""Finds MCP servers that are programs: registered by administrators, built in, or set in
`WEB_SEARCH_COMMAND`.

The process caches the servers briefly.
"""

import sys
from dataclasses import dataclass, field

from channels.db import database_sync_to_async
from django.conf import settings

from apps import process_state
from apps.errors import Unsupported
from apps.process_state import AgedCache
from apps.workspace.local.models import McpServer

PROGRAMS = {"py-interpreter": "apps.capabilities.interpreter.server"}
"""Maps the names of built-in MCP servers to their Python modules."""


class NotRegistered(Unsupported):
    """Raised if no enabled MCP server with the requested name is registered in the installation."""


@dataclass(frozen=True, slots=True)
class RegisteredServer:
    """A program that is an MCP server. Its `version` changes with every edit, so that an edited
    server is treated as a different one.

    A built-in server has no row: its `id` and `version` are 0.
    """

    id: int
    version: int
    name: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    working_directory: str = ""

    @property
    def is_built_in(self) -> bool:
        return self.id == 0


_cache = AgedCache[str, RegisteredServer]()


async def find(name: str) -> RegisteredServer:
    """Return an enabled MCP server. The result may be outdated by up to `MAX_AGE_SECONDS`. Raises
    `NotRegistered` if there is none, and `Unsupported` if its stored environment is invalid.
    """
    found = await _cache.renewed(
        name,
        process_state.MAX_AGE_SECONDS,
        lambda known: database_sync_to_async(look_up)(name),
    )
    if found is None:
        raise NotRegistered(
            f"The MCP server {name[:100]!r} is not registered or not enabled. Ask an "
            "administrator to register it."
        )
    return found


def look_up(name: str) -> RegisteredServer | None:
    """Return the MCP server with this name, or None. A row replaces or disables the built-in
    program with the same name.

    Raises `Unsupported` if the row's environment is invalid, because it was saved without
    validation.
    """
    row = McpServer.objects.filter(name=name).first()
    if row is None:
        return built_in(name)
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
    """Return a built-in server, or None for an unknown name. The server is a module that this
    installation's Python runs.
    """
    if name not in PROGRAMS:
        return None
    return RegisteredServer(
        id=0,
        version=0,
        name=name,
        command=sys.executable,
        arguments=("-m", PROGRAMS[name]),
        working_directory=str(settings.BASE_DIR),
    )
