"""Defines what pages, reports and docs need to know about a kind of toolset, in addition to its
fields.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CardField:
    """A field on the studio's card of a toolset. `editor` is the type of its input, which the
    script `tools/cards.js` implements.

    Fields without a `CardField` are edited under *All fields*.
    """

    editor: Literal["text", "number", "authorization", "server"]
    path: str
    label: str = ""
    placeholder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Describes a kind of toolset. `title` is shown on the studio's cards, and `tools` describes
    the kind's tools in the manifest reference.
    """

    title: str
    tools: str
    order: int = 100
    """Schemas, forms and messages sort kinds by this number."""
    is_deferrable: bool = True
    """True if tool discovery may hide the toolset's tools from the model."""
    is_prefixed: bool = False
    """True if the names of the toolset's tools start with the toolset's name."""
    reserved: Set[str] = frozenset()
    """The kind's tools may have these names, although they are reserved for the platform."""
    card: tuple[CardField, ...] = ()
