"""Answers of people to a question: `{"outcome": "answered" | "skipped", "choices": [labels],
"text": "…"}`, or `{"outcome": "timeout"}` when nobody did in time.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.capabilities.questions.card import LABEL_CHARACTERS, MOST_OPTIONS

ANSWER_CHARACTERS = 10_000
"""About five pages."""

EMPTY = (
    "the answer is empty. Go on with what is most likely and say what you assumed; do not ask "
    "the same again."
)
SKIPPED = f"The user skipped the question: {EMPTY}"
TIMED_OUT = f"The user did not answer in time: {EMPTY}"

UNREADABLE = "This is no answer to a question."
TOO_LONG = f"This is too long: an answer has at most {ANSWER_CHARACTERS} characters."
NOTHING = "Choose or write an answer, or skip the question."
ONE = "Choose one of the options."
OTHER = "Only the options can be chosen here."

Choice = Annotated[str, Field(pattern=r"\S", max_length=LABEL_CHARACTERS)]


class Answer(BaseModel):
    """An answer as the page sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Literal["answered", "skipped"]
    choices: Annotated[tuple[Choice, ...], Field(max_length=MOST_OPTIONS)] = ()
    text: str = ""


def question_problem(asked: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Why this is no answer to the card, as a sentence for the person; "" if it is one."""
    try:
        given = Answer.model_validate(answer)
    except ValidationError:
        return UNREADABLE
    if len(given.text) > ANSWER_CHARACTERS:
        return TOO_LONG
    if given.outcome == "skipped":
        return ""
    if not given.choices and not given.text.strip():
        return NOTHING
    if asked["input"] == "single" and len(given.choices) > 1:
        return ONE
    has_other = bool(given.text.strip()) or not labels(asked).issuperset(given.choices)
    return OTHER if has_other and not asked["freeform"] else ""


def answer_text(asked: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """What the model is told. Choices that are no options count as written."""
    if answer.get("outcome") == "timeout":
        return TIMED_OUT
    # Doors refuse such answers; one that came another way must not choose what was not offered.
    if question_problem(asked, answer):
        return SKIPPED
    given, offered = Answer.model_validate(answer), labels(asked)
    if given.outcome == "skipped":
        return SKIPPED
    chosen = [f'"{choice}"' for choice in dict.fromkeys(given.choices) if choice in offered]
    written = [*(choice for choice in given.choices if choice not in offered), given.text.strip()]
    lines = [f"The user chose: {', '.join(chosen)}"] if chosen else []
    return "\n".join([*lines, *(f"The user wrote: {text}" for text in written if text)])


def labels(asked: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(option["label"] for option in asked["options"])
