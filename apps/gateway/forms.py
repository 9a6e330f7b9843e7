"""DIAL's forms: JSON schemas that a chat shows as buttons and boxes."""

from collections.abc import Iterable
from typing import Any

from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.runs.next_message import FORM_FIELD


def button(number: int, title: str, text: str, *, submit: bool) -> dict[str, Any]:
    """One that writes `text` for the person, and sends it at once if `submit`."""
    options = {"populateText": text, "submit": submit, "confirmationMessage": None}
    return {"const": number, "title": title, "dial:widgetOptions": options}


def buttons(description: str, choices: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "integer",
        "description": description,
        "dial:widget": "buttons",
        "oneOf": list(choices),
    }


def card_form(card: NumberedCard) -> dict[str, Any] | None:
    """The form of a card, whose text stands in the answer; None if there is nothing to choose."""
    if not card.choices:
        return None
    numbered = list(enumerate(card.choices, start=1))
    field: dict[str, Any]
    if card.several:
        items = {"enum": [number for number, _ in numbered], "enumNames": list(card.choices)}
        field = {"type": "array", "uniqueItems": True, "items": {"type": "integer", **items}}
    else:
        made = (button(number, title, title, submit=True) for number, title in numbered)
        field = buttons(card.advice, made)
    return {"type": "object", "properties": {FORM_FIELD: field}}
