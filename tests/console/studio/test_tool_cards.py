"""The card of a kind of toolset is built from its record and its model only."""

from collections.abc import Iterator
from typing import Any, Literal

from apps.console.studio.tool_cards import fixed_names, kind_on_cards
from apps.manifest.kind import CardField, Kind
from apps.manifest.names import visible_name
from apps.manifest.toolsets.kinds import KINDS
from apps.manifest.toolsets.shared_fields import NamedToolSet

HIGHEST = CardField("number", "highest", "Highest number")


class Lottery(NamedToolSet):
    kind = Kind(title="Lottery", tools="one", is_prefixed=True, card=(HIGHEST,))
    type: Literal["lottery"] = "lottery"
    highest: int

    def visible_tools(self) -> Iterator[tuple[str, str]]:
        yield visible_name(self.name, "draw"), "name"


def test_a_kind_whose_required_fields_are_on_its_card_can_be_added():
    shown = kind_on_cards(Lottery)
    addable = [name for name, schema in KINDS.items() if kind_on_cards(schema)["is_addable"]]

    assert shown == {
        "title": "Lottery",
        "fields": [
            {"editor": "number", "path": "highest", "label": "Highest number", "placeholder": ""}
        ],
        "is_named": True,
        "is_remote": False,
        "is_written": False,
        "is_addable": True,
    }
    assert {"a2a-agent", "responses-agent"} <= set(addable)


def test_a_card_has_the_names_that_the_kind_decides():
    written: dict[str, Any] = {"type": "lottery", "name": "my lotto", "highest": 49}

    assert fixed_names(Lottery, written) == ("draw",)
    assert fixed_names(Lottery, {"type": "lottery"}) == ()
