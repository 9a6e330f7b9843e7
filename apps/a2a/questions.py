"""Converts the open questions of a task to messages, and reads messages that answer them."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from apps.a2a import encoding
from apps.a2a.encoding import Json
from apps.a2a.errors import InvalidParams, UnsupportedOperation
from apps.a2a.requests import SentMessage
from apps.capabilities.questions.answers import question_answer, question_card
from apps.capabilities.wrappers.approval import approval_answer, approval_card
from apps.conversations.interactions.answer_frames import Answer, AnswerFrame
from apps.doors.bodies import first_problem, shorten_text
from apps.live.models import Interaction, Run

FRAME: TypeAdapter[AnswerFrame] = TypeAdapter(Answer)
CARDS = {"approval": approval_card, "question": question_card}
"""Maps the question types that clients can answer with text to functions that build their cards."""
ANSWERS = {"approval": approval_answer, "question": question_answer}
DATA_ADVICE = 'Send a data part {"key": "…", "answer": {…}} for one of its questions.'


def open_questions(run: Run) -> list[Interaction]:
    """Return the open questions of the run that a message can answer."""
    rows = Interaction.objects.filter(run=run, answer__isnull=True).order_by("pk")
    if run.status == Run.Status.WAITING:
        return list(rows.exclude(kind__in=("client_tool", "timer")))
    # Elicitations come from a running call. Other questions are answered once the run is waiting.
    return list(rows.filter(kind="elicitation")) if run.status == Run.Status.RUNNING else []


def question_message(run: Run, questions: Sequence[Interaction]) -> Json:
    """Return an agent message with each question as text and as data."""
    parts = [part for one in questions for part in question_parts(one)]
    return encoding.agent_message(f"{run.pk}-{questions[0].pk}", run, parts)


def question_parts(question: Interaction) -> list[Json]:
    data = {"key": question.key, "kind": question.kind, "asked": question.asked}
    if question.kind in CARDS:
        text = CARDS[question.kind](question.asked).markdown
    else:
        text = str(
            question.asked.get("message") or f"The task asks for: {question.kind}. {DATA_ADVICE}"
        )
    return [encoding.text_part(text), {"data": data, "mediaType": encoding.JSON}]


def read_answer(run: Run, sent: SentMessage) -> AnswerFrame:
    """Return a message's answer to one of the run's questions.

    Raises `InvalidParams` if the answer is invalid, or `UnsupportedOperation` if there is no open
    question.
    """
    questions = open_questions(run)
    if not questions:
        raise UnsupportedOperation(closed_text(run))
    for part in sent.parts:
        if isinstance(part.data, dict) and {"key", "answer"} <= part.data.keys():
            return frame_of(run, find_question(questions, part.data["key"]), part.data["answer"])
    text = "\n\n".join(part.text for part in sent.parts if part.text)
    if len(questions) > 1:
        raise InvalidParams(f"The task has {len(questions)} open questions. {DATA_ADVICE}")
    if not text.strip() or questions[0].kind not in ANSWERS:
        raise InvalidParams(f"The message does not answer the task's question. {DATA_ADVICE}")
    return frame_of(run, questions[0], ANSWERS[questions[0].kind](questions[0].asked, text))


def closed_text(run: Run) -> str:
    if run.status in Run.OPEN:
        return "The task is in progress and has no open question. Wait until its state changes."
    return "The task has ended and accepts no more messages. Send the message without taskId."


def find_question(questions: Sequence[Interaction], key: Any) -> Interaction:
    """Return the question with this key. Raises `InvalidParams` if it is not open."""
    for one in questions:
        if one.key == key:
            return one
    raise InvalidParams(f"Unknown key: {shorten_text(str(key))!r}. {DATA_ADVICE}")


def frame_of(run: Run, question: Interaction, given: Any) -> AnswerFrame:
    """Convert the answer to the format of the chat page's WebSocket. Raises `InvalidParams` if it
    does not match the question.
    """
    frame = {"type": "answer", "kind": question.kind, "run": run.pk, "key": question.key}
    try:
        return FRAME.validate_python({**frame, "answer": given})
    except ValidationError as error:
        raise InvalidParams(f"The answer is not valid. {first_problem(error)}.") from error
