"""Possible answers of users to a question, and the result for the model."""

from typing import Any

from apps.capabilities.questions.answers import (
    NOTHING,
    ONE,
    OTHER,
    SKIPPED,
    TIMED_OUT,
    TOO_LONG,
    UNREADABLE,
    answer_text,
    question_problem,
)
from tests.tables import each_row


def asked(kind: str = "single", *, freeform: bool = True) -> dict[str, Any]:
    options = [] if kind == "text" else [{"label": "Red"}, {"label": "Blue", "description": "Sea."}]
    return {"question": "Which?", "input": kind, "options": options, "freeform": freeform}


def answered(*choices: str, text: str = "") -> dict[str, Any]:
    return {"outcome": "answered", "choices": list(choices), "text": text}


@each_row(
    ("card", "answer", "told"),
    [
        (asked(), answered("Red"), 'The user chose: "Red"'),
        (asked(freeform=False), answered("Red"), 'The user chose: "Red"'),
        (asked(), {"outcome": "answered", "choices": ["Red"]}, 'The user chose: "Red"'),
        (asked(), answered(text=" None.\n"), "The user wrote: None."),
        (
            asked(),
            answered("Red", text="a pale one"),
            'The user chose: "Red"\nThe user wrote: a pale one',
        ),
        (asked("multiple"), answered("Blue", "Red"), 'The user chose: "Blue", "Red"'),
        (asked("multiple"), answered("Red", "Red"), 'The user chose: "Red"'),
        (
            asked("multiple"),
            answered("Red", "Green"),
            'The user chose: "Red"\nThe user wrote: Green',
        ),
        (asked("text"), answered(text="Because."), "The user wrote: Because."),
        (asked(), {"outcome": "skipped"}, SKIPPED),
        (asked(freeform=False), {"outcome": "skipped", "choices": [], "text": "x"}, SKIPPED),
    ],
)
def test_an_answer_is_taken_and_told(card, answer, told):
    assert question_problem(card, answer) == ""
    assert answer_text(card, answer) == told


@each_row(
    ("card", "answer", "problem"),
    [
        (asked(), answered(), NOTHING),
        (asked(), answered(text="  "), NOTHING),
        (asked(), answered("Red", "Blue"), ONE),
        (asked(freeform=False), answered("Green"), OTHER),
        (asked(freeform=False), answered("Red", text="a pale one"), OTHER),
        (asked("multiple", freeform=False), answered("Red", "Green"), OTHER),
        (asked(), {}, UNREADABLE),
        (asked(), {"outcome": "approved"}, UNREADABLE),
        (asked(), {"outcome": "skipped", "always": "application"}, UNREADABLE),
        (asked(), {"outcome": "answered", "choices": "Red"}, UNREADABLE),
        (asked(), {"outcome": "answered", "choices": [1]}, UNREADABLE),
        (asked(), {"outcome": "answered", "text": None}, UNREADABLE),
        (asked("multiple"), answered(*map(str, range(21))), UNREADABLE),
        (asked(), answered("a" * 201), UNREADABLE),
        (asked(), answered(" "), UNREADABLE),
        (asked("text"), answered(text="a" * 10_001), TOO_LONG),
        (asked(), {"outcome": "skipped", "text": "a" * 10_001}, TOO_LONG),
    ],
)
def test_what_is_no_answer_is_refused_and_never_told(card, answer, problem):
    assert question_problem(card, answer) == problem
    assert answer_text(card, answer) == SKIPPED


def test_only_a_clock_says_that_the_time_is_over():
    assert question_problem(asked(), {"outcome": "timeout"}) == UNREADABLE
    assert answer_text(asked(), {"outcome": "timeout"}) == TIMED_OUT
