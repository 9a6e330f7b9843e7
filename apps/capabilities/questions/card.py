"""The card of a question, made of what the model wrote."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from apps.errors import InvalidParameter

QUESTION = "question"
INPUT_TYPE = "input_type"
OPTIONS = "options"
FREEFORM = "allow_freeform"
LABEL = "label"

INPUTS: Mapping[str, str] = {"single-select": "single", "multi-select": "multiple", "text": "text"}
"""What the model writes → the `input` of the card."""

MOST_OPTIONS = 20
"""As many as a person reads before choosing."""
QUESTION_CHARACTERS = 2_000
LABEL_CHARACTERS = 200
DESCRIPTION_CHARACTERS = 500


class Option(TypedDict):
    label: str
    description: NotRequired[str]


def read_card(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of the card: `question`; `input`, which is `single`, `multiple` or `text`; `options`;
    `freeform`, whether other answers can be given. Its texts are plain. Raises `InvalidParameter`.
    """
    kind = INPUTS[arguments[INPUT_TYPE]]
    return {
        "question": bounded(QUESTION, arguments[QUESTION].strip(), QUESTION_CHARACTERS),
        "input": kind,
        "options": read_options(kind, arguments.get(OPTIONS) or ()),
        "freeform": kind == "text" or arguments[FREEFORM],
    }


def read_options(kind: str, given: Sequence[Mapping[str, str]]) -> list[Option]:
    """Raises `InvalidParameter`."""
    if kind == "text":
        if given:
            problem = (
                "a question of the type text has none. Leave them out, or choose another type."
            )
            raise InvalidParameter(OPTIONS, problem)
        return []
    if not given:
        problem = "there are none to choose from. Name some, or ask with the type text."
        raise InvalidParameter(OPTIONS, problem)
    if len(given) > MOST_OPTIONS:
        problem = f"there are {len(given)}. Name at most {MOST_OPTIONS}, the most likely ones."
        raise InvalidParameter(OPTIONS, problem)
    options = [read_option(f"{OPTIONS}[{index}]", one) for index, one in enumerate(given)]
    if len({option["label"] for option in options}) < len(options):
        raise InvalidParameter(OPTIONS, "two have the same label. Give each a label of its own.")
    return options


def read_option(path: str, given: Mapping[str, str]) -> Option:
    """Raises `InvalidParameter`."""
    label = " ".join(given[LABEL].split())
    option = Option(label=bounded(f"{path}.{LABEL}", label, LABEL_CHARACTERS))
    if description := given.get("description", "").strip():
        path = f"{path}.description"
        option["description"] = bounded(path, description, DESCRIPTION_CHARACTERS)
    return option


def bounded(path: str, text: str, most: int) -> str:
    """Raises `InvalidParameter`."""
    if not text:
        raise InvalidParameter(path, "it says nothing. Write what the user is to read.")
    if len(text) > most:
        problem = f"it has {len(text)} characters. Shorten it to at most {most}."
        raise InvalidParameter(path, problem)
    return text
