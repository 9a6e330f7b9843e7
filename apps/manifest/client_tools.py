"""Tools that the page of a conversation runs, in the browser of the person."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from apps.manifest.approvals import Approval
from apps.manifest.names import LONGEST_NAME
from apps.manifest.nodes import Node
from apps.manifest.parameters import FunctionParameters
from apps.manifest.shared_fields import Named
from apps.manifest.tools import ToolDisplay

INSPECT_PAGE = "_platform.inspect_page"
SET_FIELD = "_platform.set_field"
OF_THE_PAGE = frozenset({INSPECT_PAGE, SET_FIELD})
"""The tools that the page brings itself; no other name may begin as theirs do."""
RESERVED = "_platform_"
INSPECT_TEAM = "_platform_inspect_team"
LIST_PLACES, LIST_MODULES = "_platform_list_places", "_platform_list_modules"
OF_THE_SERVER = frozenset({INSPECT_TEAM, LIST_PLACES, LIST_MODULES})
"""Internal tools, which the server runs."""
PLATFORM_NAMES = frozenset(name.replace(".", "_") for name in OF_THE_PAGE)
"""Those of the page as the model sees them."""

_name = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_permission = re.compile(r"[a-z_0-9]+\.[a-z_0-9]+")


def checked_name(name: str) -> str:
    if len(name) > LONGEST_NAME or not _name.fullmatch(name):
        raise PydanticCustomError(
            "tool_name",
            f"a name has 1 to {LONGEST_NAME} letters, digits, `_` and `-`, with dots between its "
            "parts; write a name like `shop.fill_order`",
        )
    if name.replace(".", "_").startswith(RESERVED) and name not in OF_THE_PAGE:
        raise PydanticCustomError(
            "tool_name",
            "`_platform.` begins the names of the tools that the page brings itself; choose another",
        )
    return name


def checked_permission(permission: str) -> str:
    if not _permission.fullmatch(permission):
        raise PydanticCustomError(
            "permission", "this is no permission; write one like `catalog.change_application`"
        )
    return permission


class ClientTool(Node):
    """A tool that the page runs."""

    name: Annotated[str, AfterValidator(checked_name)]
    """Under which a script of the page registers the tool, such as `shop.fill_order`; the model sees
    `shop_fill_order`. `_platform.inspect_page` and `_platform.set_field` are there already."""
    description: str
    """What the tool does and when it is of use; the model chooses by it. At most 1,024 characters."""
    parameters: FunctionParameters
    """What the model gives the tool."""
    permission: Annotated[str, AfterValidator(checked_permission)] | None = None
    """The permission that the person needs, as the admin knows it: `catalog.change_application`. Calls
    for others are not made, and the model is told. Null: none."""
    is_repeatable: bool = False
    """Whether two calls have the effect of one. True: a page that is reloaded makes the call again;
    false: the model is told that it may have been carried out."""
    approval: Approval | None = None
    """Which calls wait for a person, and which are never made. Null: as the toolset says."""
    display: ToolDisplay | None = None
    """How calls are shown to people. Null: under a title made of the toolset's name, with their
    arguments."""
    enabled: bool = True
    """False: the tool is left out, as if it were not written."""


class ClientToolSet(Named):
    """Tools that the page of the conversation runs, in the browser of the person."""

    type: Literal["client"] = "client"
    """Says that the page of the conversation runs the tools."""
    seconds: float = Field(default=90, gt=0, le=3600)
    """How long the page has for a call; then the model is told that there was no answer."""
    tools: tuple[ClientTool, ...]
    """The tools. Where a conversation is not open on the page, there are none of them."""
