"""Describes a kind of toolset for pages, reports and docs."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CardField:
    """A field of a toolset that the studio shows on the toolset's card. All other fields are edited
    under *All fields*.
    """

    editor: Literal["text", "number", "authorization", "server"]
    """The type of the input element that edits the field. The script `tools/cards.js` implements
    each type.
    """
    path: str
    label: str = ""
    placeholder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of toolset."""

    title: str
    """The title of the studio's cards for toolsets of this kind."""
    tools: str
    """A description of the kind's tools for the manifest reference."""
    order: int = 100
    """The sort key of kinds in schemas, forms and messages."""
    is_deferrable: bool = True
    """True if tool discovery may hide the toolset's tools from the model."""
    is_prefixed: bool = False
    """True if the names of the toolset's tools start with the toolset's name."""
    reserved: Set[str] = frozenset()
    """Tool names that are reserved for the platform, but that tools of this kind may use."""
    card: tuple[CardField, ...] = ()
