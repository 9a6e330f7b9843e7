"""What the events of a run add to its message, in a stream as well as in a whole answer."""

from collections.abc import Mapping
from itertools import count
from typing import Any, assert_never

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    Finished,
    HelperBegan,
    HelperEnded,
    InteractionRequested,
    Noticed,
    Reasoning,
    RefusalDelta,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
)
from apps.agent.messages import attachment_to_dict, call_to_dict
from apps.gateway.forms import card_form
from apps.runs.asking_ledger import CARDS

Delta = dict[str, Any]
"""A part of the message: texts continue, and list entries with an `index` belong together."""
SEPARATOR = "\n\n"


class DeltaWriter:
    """Writes the deltas of one answer.

    For DIAL Core reasoning is a stage and a refusal is text; other clients get both under the keys
    of OpenAI's API.
    """

    def __init__(self, *, for_core: bool = False) -> None:
        self.for_core = for_core
        self.has_thought = False
        self.stages: dict[str, int] = {}
        self.stage_indexes = count()
        self.stage_attachments: dict[str, count[int]] = {}
        self.attachments = count()
        self.calls = count()

    def write(self, event: Event) -> Delta | None:  # noqa: C901 - one case for each event
        """None for an event that is not shown, and for the state, which is no delta."""
        match event:
            case TextDelta(text):
                return {"content": text}
            case RefusalDelta(text):
                return {"content" if self.for_core else "refusal": text}
            case Reasoning(_, text) if not self.for_core:
                return {"reasoning_content": text}
            case StageOpened(is_reasoning=True) if not self.for_core:
                return self.separate_thoughts()
            case StageOpened(stage_id, title, parent_id):
                return self.open_stage(stage_id, title, parent_id)
            case StageRenamed(stage_id, suffix):
                return self.stage(stage_id, name=suffix)
            case StageDelta(stage_id, text) | Reasoning(stage_id, text):
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
            case Noticed(_, text):
                return self.notice(text)
            case ToolCallsRequested(calls):
                written = [{"index": next(self.calls), **call_to_dict(call)} for call in calls]
                return {"content": None, "tool_calls": written}
            case StateSaved() | Spent() | Finished():
                return None
            case InteractionRequested(asked) if self.for_core:
                form = card_form(CARDS[asked.kind](asked.asked))
                return {"custom_content": {FORM: form}} if form else None
            case HelperBegan() | HelperEnded() | TodoChanged():
                return None  # the stage of the call shows the helper, and the state has the list
            case TurnRestarted() | InteractionRequested():
                return None  # a run that is kept goes on; what is asked stands in the text
            case _:
                assert_never(event)

    def separate_thoughts(self) -> Delta | None:
        """Separate the reasoning of the model's next answer from that before it."""
        lead = {"reasoning_content": SEPARATOR} if self.has_thought else None
        self.has_thought = True
        return lead

    def open_stage(self, stage_id: str, title: str, parent_id: str | None) -> Delta | None:
        parent = self.stages.get(parent_id) if parent_id is not None else None
        nested = {} if parent is None else {"parent_stage_index": parent}
        # A repeated id begins another stage: a model may number its calls anew.
        self.stages[stage_id] = next(self.stage_indexes)
        self.stage_attachments.pop(stage_id, None)
        return self.stage(stage_id, name=title, **nested)

    def notice(self, text: str) -> Delta:
        """A stage without content, whose name is the notice."""
        index = next(self.stage_indexes)
        return {
            "custom_content": {"stages": [{"index": index, "name": text, "status": "completed"}]}
        }

    def stage(self, stage_id: str, status: str | None = None, /, **fields: Any) -> Delta | None:
        index = self.stages.get(stage_id)
        if index is None:
            return None  # it was never opened
        return {"custom_content": {"stages": [{"index": index, **fields, "status": status}]}}


class Text(list[str]):
    """The pieces of a text that may still grow."""


AS_THEY_CAME = "annotations"
"""The key of a list whose entries an application wrote, perhaps with an `index` of their own."""
FORM = "form_schema"
"""The key of a JSON schema, which comes in one piece."""


def merge(whole: Delta, delta: Mapping[str, Any]) -> None:
    """Add a delta to the message, whose texts are `Text` meanwhile."""
    for key, value in delta.items():
        if isinstance(value, str):
            if whole.get(key) is None:
                whole[key] = Text()
            whole[key].append(value)
        elif key == FORM:
            whole[key] = value
        elif isinstance(value, Mapping):
            merge(whole.setdefault(key, {}), value)
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
        merge(known[entry["index"]], {key: entry[key] for key in entry if key != "index"})


def joined(value: Any) -> Any:
    """The message as it is written, with its texts whole."""
    match value:
        case Text():
            return "".join(value)
        case dict():
            return {key: joined(item) for key, item in value.items()}
        case list():
            return [joined(item) for item in value]
        case _:
            return value
