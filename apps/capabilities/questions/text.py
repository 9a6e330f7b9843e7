"""The card of a question as text."""

from collections.abc import Mapping
from typing import Any

from apps.capabilities.questions.answers import ANSWER_CHARACTERS
from apps.capabilities.wrappers.numbered_cards import NumberedCard

SKIP = "skip"
CHOOSE = {
    "single": "Answer with a number",
    "multiple": "Answer with numbers, such as `1, 2`",
    "text": "Answer in your own words",
}


def question_card(asked: Mapping[str, Any]) -> NumberedCard:
    options = asked["options"]
    # A description may have several lines, which would look like other options.
    described = [
        f"{option['label']}: {' '.join(option['description'].split())}"
        for option in options
        if option.get("description")
    ]
    text = "\n".join([asked["question"], *(f"- {line}" for line in described)])
    own = ", or in your own words" if asked["freeform"] and options else ""
    advice = f"{CHOOSE[asked['input']]}{own}; `{SKIP}` skips the question."
    labels = tuple(option["label"] for option in options)
    return NumberedCard(text, labels, advice, several=asked["input"] == "multiple")


def question_answer(asked: Mapping[str, Any], text: str, value: Any = None) -> dict[str, Any]:
    """The answer that a message is; what cannot be chosen skips the question."""
    card = question_card(asked)
    if chosen := card.chosen(text, value):
        return {"outcome": "answered", "choices": [card.choices[one - 1] for one in chosen]}
    own = text.strip()[:ANSWER_CHARACTERS]
    if not own or own.casefold() == SKIP or not asked["freeform"]:
        return {"outcome": "skipped"}
    return {"outcome": "answered", "text": own}
