"""Converts the events of a run to message deltas in DIAL's and OpenAI's formats."""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, assert_never

from apps.agent.call_arguments import input_text
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    InteractionRequested,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
)
from apps.agent.ledger import InteractionRequest
from apps.agent.messages import ToolCall, attachment_to_dict, call_to_dict
from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.doors.client_conversation import FORM_FIELD
from apps.runs.asking_ledger import CARDS

Delta = dict[str, Any]
"""A chunk of a message. Clients append its texts, and merge its list items by the key `index`."""
SEPARATOR = "\n\n"


class DialDeltas:
    """Converts the events of a run to message deltas for DIAL Core. Reasoning becomes a stage, and
    a refusal becomes text.
    """

    def __init__(self) -> None:
        self.stages: dict[str, int] = {}
        self.stage_indexes = count()
        self.stage_attachments: dict[str, count[int]] = {}
        self.attachments = count()
        self.calls = count()

    def write(self, event: Event) -> Delta | None:  # noqa: C901 - one case for each event
        """Convert an event to a delta. Return None for events that clients do not show, and for the
        state, which is sent separately.
        """
        match event:
            case TextDelta(text):
                return {"content": text}
            case RefusalDelta(text):
                return self.refusal(text)
            case Reasoning():
                return self.thought(event)
            case StageOpened(is_reasoning=True):
                return self.open_thoughts(event)
            case StageOpened():
                return self.open_stage(event)
            case StageRenamed(stage_id, suffix):
                return self.stage(stage_id, name=suffix)
            case StageDelta(stage_id, text):
                return self.stage(stage_id, content=text)
            case StageAttachment(stage_id, attachment):
                index = next(self.stage_attachments.setdefault(stage_id, count()))
                item = {"index": index, **attachment_to_dict(attachment)}
                return self.stage(stage_id, attachments=[item])
            case StageClosed(stage_id, _, failed):
                named = {"name": event.time} if event.time else {}
                return self.stage(stage_id, "failed" if failed else "completed", **named)
            case AttachmentAdded(attachment):
                item = {"index": next(self.attachments), **attachment_to_dict(attachment)}
                return {"custom_content": {"attachments": [item]}}
            case AnnotationAdded(annotation):
                return {"custom_fields": {"annotations": [annotation]}}
            case NoticeAdded(_, text):
                return self.notice(text)
            case ToolCallsRequested():
                written = [{"index": next(self.calls), **call} for call in self.written(event)]
                return {"content": None, "tool_calls": written}
            case StateSaved() | Spent() | RunFinished():
                return None
            case InteractionRequested(asked):
                return self.interaction(asked)
            case SubagentStarted() | SubagentEnded() | TodoChanged():
                # The stage of its call shows the sub-agent, and the state contains the to-do list.
                return None
            case TurnRestarted():
                return None  # Only stored runs are resumed in another process.
            case _:
                assert_never(event)

    def refusal(self, text: str) -> Delta:
        return {"content": text}

    def thought(self, event: Reasoning) -> Delta | None:
        return self.stage(event.stage_id, content=event.text)

    def open_thoughts(self, event: StageOpened) -> Delta | None:
        return self.open_stage(event)

    def written(self, event: ToolCallsRequested) -> list[Delta]:
        """Return the calls of the client's tools as elements of `tool_calls`."""
        return [call_to_dict(call) for call in event.calls]

    def interaction(self, asked: InteractionRequest) -> Delta | None:
        form = card_form(CARDS[asked.kind](asked.asked))
        return {"custom_content": {FORM: form}} if form else None

    def open_stage(self, event: StageOpened) -> Delta | None:
        parent = self.stages.get(event.parent_id) if event.parent_id is not None else None
        nested = {} if parent is None else {"parent_stage_index": parent}
        # A repeated ID begins a new stage, because models can restart the numbering of their calls.
        self.stages[event.stage_id] = next(self.stage_indexes)
        self.stage_attachments.pop(event.stage_id, None)
        return self.stage(event.stage_id, name=event.title, **nested)

    def notice(self, text: str) -> Delta:
        """Convert a notice to a delta with a stage that has no content."""
        index = next(self.stage_indexes)
        return {
            "custom_content": {"stages": [{"index": index, "name": text, "status": "completed"}]}
        }

    def stage(self, stage_id: str, status: str | None = None, /, **fields: Any) -> Delta | None:
        index = self.stages.get(stage_id)
        if index is None:
            return None  # The stage was never opened.
        return {"custom_content": {"stages": [{"index": index, **fields, "status": status}]}}


class OpenAIDeltas(DialDeltas):
    """Converts the events of a run to message deltas for OpenAI's clients. Reasoning and refusals
    have separate keys.
    """

    has_thought = False

    def refusal(self, text: str) -> Delta:
        return {"refusal": text}

    def thought(self, event: Reasoning) -> Delta | None:
        return {"reasoning_content": event.text}

    def open_thoughts(self, event: StageOpened) -> Delta | None:
        """Return the separator between the reasoning of two model calls, or None before the first
        model call.
        """
        lead = {"reasoning_content": SEPARATOR} if self.has_thought else None
        self.has_thought = True
        return lead

    def written(self, event: ToolCallsRequested) -> list[Delta]:
        return [
            custom_call(call) if call.name in event.text_tools else call_to_dict(call)
            for call in event.calls
        ]

    def interaction(self, asked: InteractionRequest) -> Delta | None:
        return None  # The text contains it.


def custom_call(call: ToolCall) -> Delta:
    """Convert a call to a tool that takes plain text to an element of `tool_calls`."""
    called = {"name": call.name, "input": input_text(call.arguments)}
    return {"id": call.id, "type": "custom", "custom": called}


class Text(list[str]):
    """A text in an incomplete message, as a list of strings. Each delta appends to it."""


AS_THEY_CAME = "annotations"
"""The key of a list that clients do not merge by `index`, because its elements come from
applications and can contain an `index` of their own.
"""
FORM = "form_schema"
"""The key of a form's JSON Schema, which is sent in a single delta."""


def merge_delta(whole: Delta, delta: Mapping[str, Any]) -> None:
    """Merge a delta into the message `whole`. Until the message is complete, its texts are `Text`
    objects.
    """
    for key, value in delta.items():
        if isinstance(value, str):
            if whole.get(key) is None:
                whole[key] = Text()
            whole[key].append(value)
        elif key == FORM:
            whole[key] = value
        elif isinstance(value, Mapping):
            merge_delta(whole.setdefault(key, {}), value)
        elif key == AS_THEY_CAME:
            whole.setdefault(key, []).extend(value)
        elif isinstance(value, list):
            merge_entries(whole.setdefault(key, []), value)
        else:
            whole.setdefault(key, value)


def merge_entries(known: list[Delta], added: list[Delta]) -> None:
    for entry in added:
        if entry["index"] == len(known):
            known.append({})
        merge_delta(known[entry["index"]], {key: entry[key] for key in entry if key != "index"})


def join_texts(value: Any) -> Any:
    """Return the JSON value with each `Text` in it joined to a string."""
    match value:
        case Text():
            return "".join(value)
        case dict():
            return {key: join_texts(item) for key, item in value.items()}
        case list():
            return [join_texts(item) for item in value]
        case _:
            return value


def button(number: int, title: str, text: str, *, submit: bool) -> dict[str, Any]:
    """Return a form button. It fills in `text` and, if `submit` is True, also sends it."""
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
    """Return the form with a card's choices, or None if the card has none. The answer's text
    contains the card's text.
    """
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
