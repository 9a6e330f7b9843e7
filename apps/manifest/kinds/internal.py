"""Defines toolsets of the kind `internal`."""

from typing import Literal

from apps.manifest.kind import Kind
from apps.manifest.toolsets.client_tools import OF_THE_SERVER
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import AnyInternalTool


class InternalToolSet(WrittenToolSet):
    """Tools that QuickApps itself provides."""

    kind = Kind(
        title="Platform",
        tools="built-in tools, such as the Python interpreter",
        order=3,
        reserved=OF_THE_SERVER,
    )

    type: Literal["internal"] = "internal"
    """QuickApps itself provides the tools."""
    tools: tuple[AnyInternalTool, ...]
    """The tools, defined inline or as references to predefined tools."""
