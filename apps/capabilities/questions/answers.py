"""Builds the card that shows the model's question to the user, and converts the user's answer.

An answer is `{"outcome": "answered" | "skipped", "choices": [labels], "text": "…"}`, or
`{"outcome": "timeout"}` if the user did not answer in time.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.errors import InvalidParameter

QUESTION = "question"
INPUT_TYPE = "input_type"
OPTIONS = "options"
FREEFORM = "allow_freeform"
LABEL = "label"

INPUTS: Mapping[str, str] = {"single-select": "single", "multi-select": "multiple", "text": "text"}
"""Maps question types in the model's arguments to the `input` of the card."""

MOST_OPTIONS = 20
QUESTION_CHARACTERS = 2_000
LABEL_CHARACTERS = 200
DESCRIPTION_CHARACTERS = 500


class Option(TypedDict):
    label: str
    description: NotRequired[str]


def read_card(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of the card. Raises `InvalidParameter` if an argument is invalid.

    The card has `question`, `input` (`single`, `multiple` or `text`), `options`, and `freeform`,
    which is True if the user can also write an answer. All texts are plain text.
    """
    kind = INPUTS[arguments[INPUT_TYPE]]
    return {
        "question": check_length(QUESTION, arguments[QUESTION].strip(), QUESTION_CHARACTERS),
        "input": kind,
        "options": read_options(kind, arguments.get(OPTIONS) or ()),
        "freeform": kind == "text" or arguments[FREEFORM],
    }


def read_options(kind: str, given: Sequence[Mapping[str, str]]) -> list[Option]:
    """Return the options of a question. Raises `InvalidParameter` if they do not fit its type."""
    if kind == "text":
        if given:
            problem = "a question of the type text has no options. Leave them out, or use a different type."
            raise InvalidParameter(OPTIONS, problem)
        return []
    if not given:
        problem = "there are no options. Pass some, or use the type text."
        raise InvalidParameter(OPTIONS, problem)
    if len(given) > MOST_OPTIONS:
        problem = (
            f"there are {len(given)}; the limit is {MOST_OPTIONS}. Pass only the most likely ones."
        )
        raise InvalidParameter(OPTIONS, problem)
    options = [read_option(f"{OPTIONS}[{index}]", one) for index, one in enumerate(given)]
    if len({option["label"] for option in options}) < len(options):
        raise InvalidParameter(OPTIONS, "two options have the same label. Use different labels.")
    return options


def read_option(path: str, given: Mapping[str, str]) -> Option:
    """Return one option of a question. Raises `InvalidParameter` if a text is empty or too long."""
    label = " ".join(given[LABEL].split())
    option = Option(label=check_length(f"{path}.{LABEL}", label, LABEL_CHARACTERS))
    if description := given.get("description", "").strip():
        path = f"{path}.description"
        option["description"] = check_length(path, description, DESCRIPTION_CHARACTERS)
    return option


def check_length(path: str, text: str, most: int) -> str:
    """Return the text, or raise `InvalidParameter` if it is empty or longer than `most`."""
    if not text:
        raise InvalidParameter(path, "it is empty. Enter the text to show to the user.")
    if len(text) > most:
        problem = f"it has {len(text)} characters; the limit is {most}. Shorten it."
        raise InvalidParameter(path, problem)
    return text


ANSWER_CHARACTERS = 10_000
"""The maximum length of an answer in characters, about five pages."""

EMPTY = (
    "the answer is empty. Continue with what is most likely, say what you assumed, and do not "
    "ask the same question again."
)
SKIPPED = f"The user skipped the question: {EMPTY}"
TIMED_OUT = f"The user did not answer in time: {EMPTY}"

UNREADABLE = "This is not an answer to a question."
TOO_LONG = f"The answer is too long; the limit is {ANSWER_CHARACTERS} characters."
NOTHING = "Choose or write an answer, or skip the question."
ONE = "Choose one of the options."
OTHER = "Choose one of the options; this question accepts no other text."

Choice = Annotated[str, Field(pattern=r"\S", max_length=LABEL_CHARACTERS)]

SKIP = "skip"
CHOOSE = {
    "single": "Answer with a number",
    "multiple": "Answer with numbers, such as `1, 2`",
    "text": "Answer in your own words",
}


class QuestionAnswer(BaseModel):
    """The user's answer to a question, as the page sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Literal["answered", "skipped"]
    choices: Annotated[tuple[Choice, ...], Field(max_length=MOST_OPTIONS)] = ()
    text: str = ""


def question_problem(asked: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return a sentence that explains to the user why the answer is invalid, or ""."""
    try:
        given = QuestionAnswer.model_validate(answer)
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
    """Return the answer as text for the model. A choice that is not on the card counts as free
    text.
    """
    if answer.get("outcome") == "timeout":
        return TIMED_OUT
    # The APIs reject invalid answers. An invalid answer from elsewhere must not select an option
    # that was not offered.
    if question_problem(asked, answer):
        return SKIPPED
    given, offered = QuestionAnswer.model_validate(answer), labels(asked)
    if given.outcome == "skipped":
        return SKIPPED
    chosen = [f'"{choice}"' for choice in dict.fromkeys(given.choices) if choice in offered]
    written = [*(choice for choice in given.choices if choice not in offered), given.text.strip()]
    lines = [f"The user chose: {', '.join(chosen)}"] if chosen else []
    return "\n".join([*lines, *(f"The user wrote: {text}" for text in written if text)])


def labels(asked: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(option["label"] for option in asked["options"])


def question_card(asked: Mapping[str, Any]) -> NumberedCard:
    """Return the card as text with numbered choices, for users who answer with a message."""
    options = asked["options"]
    # The lines of a longer description would look like other options.
    described = [
        f"{option['label']}: {' '.join(option['description'].split())}"
        for option in options
        if option.get("description")
    ]
    text = "\n".join([asked["question"], *(f"- {line}" for line in described)])
    own = ", or in your own words" if asked["freeform"] and options else ""
    advice = f"{CHOOSE[asked['input']]}{own}; `{SKIP}` skips the question."
    choices = tuple(option["label"] for option in options)
    return NumberedCard(text, choices, advice, several=asked["input"] == "multiple")


def question_answer(asked: Mapping[str, Any], text: str, value: Any = None) -> dict[str, Any]:
    """Convert a user's message to an answer. A message without a valid choice or text skips the
    question.
    """
    card = question_card(asked)
    if chosen := card.chosen(text, value):
        return {"outcome": "answered", "choices": [card.choices[one - 1] for one in chosen]}
    own = text.strip()[:ANSWER_CHARACTERS]
    if not own or own.casefold() == SKIP or not asked["freeform"]:
        return {"outcome": "skipped"}
    return {"outcome": "answered", "text": own}
