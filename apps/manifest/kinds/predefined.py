"""Defines toolsets of the kind `predefined`, which refer to predefined content."""

from typing import ClassVar, Literal

from apps.manifest.kind import Kind
from apps.manifest.nodes import Node
from apps.manifest.toolsets.tools import Override


class PredefinedToolSet(Node):
    """A toolset from the predefined content."""

    kind: ClassVar[Kind] = Kind(
        title="Predefined",
        tools="tools of a predefined toolset",
        order=1000,
        is_deferrable=False,
    )

    type: Literal["predefined"] = "predefined"
    """The toolset is predefined."""
    template_name: str
    """The name of the predefined toolset, such as `py_interpreter`. An unknown toolset is omitted,
    and the answer reports it.
    """
    override: Override | None = None
    """Changes to the template, as a merge patch. Objects are merged, null deletes a key, and other
    values replace the old values. The patch cannot change the toolset's own `type`. Null: none.
    """

    @property
    def label(self) -> str:
        return self.template_name

    @property
    def origin(self) -> str:
        return ""
