"""Lists the MCP sessions of this process, with the owner, state and uses of each.

The list contains only the names of hosts and programs, because paths, headers and tokens may
contain secrets.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.http import HttpRequest

from apps.capabilities.mcp.administration import PooledSession
from apps.console.admin.callers import caller_names
from apps.console.admin.connect.mcp_uses import PROGRAM, Use, server_key
from apps.workspace.local.models import McpServer

ORDER = ("connected", "starting", "sign-in needed", "error", "not started")
"""The states of sessions, by priority. The state of a server is the first of these that any of its
sessions has.
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    session: PooledSession
    server: str
    owner: str
    state: str
    error: str
    is_old: bool
    """True if the program was started before the server's settings were last changed."""
    uses: Sequence[Use]


def may_administer(request: HttpRequest) -> bool:
    # The pages show confidential data: the output of programs and the names of users.
    user = request.user
    return bool(user.is_active and user.is_staff and user.is_superuser)


def session_rows(
    found: Sequence[PooledSession], uses: Mapping[str, Sequence[Use]] = {}
) -> list[SessionRow]:
    """Convert sessions to table rows. `uses` maps a `server_key` to the toolsets that use the
    server.
    """
    names = caller_names(session.bucket for session in found)
    versions = dict(McpServer.objects.values_list("name", "version"))
    return [
        SessionRow(
            session,
            server=server_label(session),
            owner=names[session.bucket],
            state=state_name(session),
            error=redacted_error(session),
            is_old=session.version is not None
            and session.version != versions.get(session.server, 0),
            uses=uses.get(server_key(session.protocol, session.server), ()),
        )
        for session in found
    ]


def sessions_of(server: McpServer, found: Iterable[PooledSession]) -> list[PooledSession]:
    return [one for one in found if one.protocol == PROGRAM and one.server == server.name]


def server_state(server: McpServer, found: Iterable[PooledSession]) -> str:
    """Return the state of an MCP server: "disabled", or the first state in `ORDER` that any of its
    sessions has.
    """
    states = {state_name(session) for session in found}
    state = next((state for state in ORDER if state in states), "not started")
    return state if server.is_enabled else "disabled"


def state_name(session: PooledSession) -> str:
    return "not started" if session.state == "idle" else session.state


def server_label(session: PooledSession) -> str:
    """Return the name of the session's program, or only the host of its URL, because the path may
    contain a secret.
    """
    return session.server if session.protocol == PROGRAM else urlsplit(session.server).netloc


def redacted_error(session: PooledSession) -> str:
    return session.error.replace(session.server, server_label(session))
