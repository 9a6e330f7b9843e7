"""Defines tools that the chat page runs in the user's browser."""

import re
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from apps.manifest.names import LONGEST_NAME
from apps.manifest.nodes import Node
from apps.manifest.toolsets.approvals import Approval
from apps.manifest.toolsets.parameters import FunctionParameters
from apps.manifest.toolsets.tools import ToolDisplay

INSPECT_PAGE = "_platform.inspect_page"
SET_FIELD = "_platform.set_field"
OF_THE_PAGE = frozenset({INSPECT_PAGE, SET_FIELD})
"""Tools that the chat page itself provides. No other tool name may start with their prefix."""
RESERVED = "_platform_"
INSPECT_TEAM = "_platform_inspect_team"
LIST_PLACES, LIST_MODULES = "_platform_list_places", "_platform_list_modules"
OF_THE_SERVER = frozenset({INSPECT_TEAM, LIST_PLACES, LIST_MODULES})
"""Internal tools that run on the server."""
PLATFORM_NAMES = frozenset(name.replace(".", "_") for name in OF_THE_PAGE)
"""The names of the chat page's own tools, as the model sees them."""

_name = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_permission = re.compile(r"[a-z_0-9]+\.[a-z_0-9]+")


def checked_name(name: str) -> str:
    if len(name) > LONGEST_NAME or not _name.fullmatch(name):
        raise PydanticCustomError(
            "tool_name",
            f"must have 1 to {LONGEST_NAME} letters, digits, `_` and `-`, with dots between "
            "its parts, such as `shop.fill_order`",
        )
    if name.replace(".", "_").startswith(RESERVED) and name not in OF_THE_PAGE:
        raise PydanticCustomError(
            "tool_name",
            "names that begin with `_platform.` are reserved for the page's own tools; choose "
            "another",
        )
    return name


def checked_permission(permission: str) -> str:
    if not _permission.fullmatch(permission):
        raise PydanticCustomError(
            "permission", "this is not a permission; use one such as `catalog.change_application`"
        )
    return permission


class ClientTool(Node):
    """A tool that the chat page runs."""

    name: Annotated[str, AfterValidator(checked_name)]
    """The name under which the page's script registers the tool, such as `shop.fill_order`. The
    model sees `shop_fill_order`. `_platform.inspect_page` and `_platform.set_field` are built in.
    """
    description: str
    """Describes to the model what the tool does and when to use it. Up to 1,024 characters."""
    parameters: FunctionParameters
    """The arguments that the model passes to the tool."""
    permission: Annotated[str, AfterValidator(checked_permission)] | None = None
    """The permission that the user needs, such as `catalog.change_application`. For users without
    this permission, calls return an error. Null: none.
    """
    is_repeatable: bool = False
    """True if calling the tool twice has the same effect as calling it once. If true, a reloaded
    page repeats the call. If false, QuickApps informs the model that the call may have been
    executed.
    """
    approval: Approval | None = None
    """The calls that need approval or are denied. Null: the toolset's rules."""
    display: ToolDisplay | None = None
    """Controls how calls are shown to users. Null: the toolset's name as the title, and the
    arguments.
    """
    enabled: bool = True
    """False: the tool is ignored."""
