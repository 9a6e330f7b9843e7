"""Defines the facts about a kind of toolset that pages, reports and docs need in addition to its
fields.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CardField:
    """A field on the studio's card of a toolset. The `editor` draws the field (`tools/cards.js`).

    Fields without a `CardField` are edited under *All fields*.
    """

    editor: Literal["text", "number", "authorization", "server"]
    path: str
    label: str = ""
    placeholder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The facts about a kind of toolset. `title` is shown on the studio's cards, and `tools`
    describes the kind's tools in the manifest reference.
    """

    title: str
    tools: str
    order: int = 100
    """Kinds are sorted by this number in schemas, forms and messages."""
    is_deferrable: bool = True
    """True if tool discovery may withhold the toolset's tools."""
    is_prefixed: bool = False
    """True if the toolset's name is a prefix of its tools' names."""
    reserved: Set[str] = frozenset()
    """Names reserved for the platform that the kind's tools may nevertheless have."""
    card: tuple[CardField, ...] = ()
