"""Extracts the thoughts that a model writes between tags at the beginning of its answer."""

import re

from apps.agent.events import TextDelta
from apps.agent.model import Delta, Finish, ReasoningDelta, ToolCallDelta
from apps.workspace.openai.chunks import UNNAMED

TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<thoughts>": "</thoughts>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "◁think▷": "◁/think▷",
}
"""The opening tags, in lower case, that reasoning models write if the service does not parse their
thoughts. Each maps to its closing tag.
"""
MOST_BLANKS = 200
"""The maximum number of blank characters that are buffered because a tag may follow."""

_opening = re.compile("|".join(map(re.escape, TAGS)), re.IGNORECASE)
_closings = {
    tag: re.compile(rf"\s*{re.escape(end)}\s*", re.IGNORECASE) for tag, end in TAGS.items()
}
_beginnings = frozenset(tag[:size] for tag in TAGS for size in range(len(tag) + 1))
_whole = re.compile(r"\s*</think(?:ing)?>\s*", re.IGNORECASE)


class ThinkTags:
    """Converts text between tags at the beginning of an answer to reasoning.

    `is_over` is set as soon as the answer itself begins, because later tags are part of the answer.
    """

    def __init__(self, tag: str = "") -> None:
        """Create a filter. If the prompt already ends with the opening tag of a thought, `tag` is
        this tag, because the answer begins within the thought. Otherwise, it is "".
        """
        self.is_over = False
        self.is_beginning = bool(tag)
        """True while the model may repeat the opening tag of the prompt."""
        self.tag = tag
        """The opening tag of the current thought, or "" outside of a thought."""
        self.held = ""
        """Buffered text that may be the beginning of a tag."""
        self.thoughts: list[str] = []
        self.has_calls = False

    def filter(self, deltas: list[Delta], start: int) -> None:
        """Replace the deltas from position `start` with deltas that contain thoughts as reasoning."""
        changed: list[Delta] = []
        for delta in deltas[start:]:
            match delta:
                case TextDelta(text) if not self.is_over:
                    changed += self.split(text, delta)
                case ReasoningDelta(text) if text and (self.is_beginning or not self.tag):
                    self.tag, self.is_beginning = "", False
                    changed += [
                        *self.released(),
                        delta,
                    ]  # The service separates the thoughts itself.
                case ToolCallDelta():
                    self.has_calls = True
                    changed += [*self.released(), delta]
                case Finish(reason):
                    changed += [*self.end(reason), delta]
                case _:
                    changed.append(delta)
        deltas[start:] = changed

    def split(self, text: str, delta: TextDelta) -> list[Delta]:
        text, self.held = self.held + text, ""
        found: list[Delta] = []
        while text:
            if not self.tag:
                said = text.lstrip()
                if opened := _opening.match(said):
                    self.tag, text = opened[0].lower(), said[opened.end() :].lstrip()
                elif len(text) <= MOST_BLANKS and may_open(said):
                    self.held = text
                    break
                else:
                    self.is_over = True
                    text = said if self.thoughts else text
                    found.append(TextDelta(text, delta.logprobs))
                    break
            elif self.is_beginning:
                said = text.lstrip()
                if self.tag.startswith(said.lower()):
                    self.held = text
                    break
                self.is_beginning = False
                text = said[len(self.tag) :] if said.lower().startswith(self.tag) else text
            elif closed := _closings[self.tag].search(text):
                found += self.think(text[: closed.start()])
                self.tag, text = "", text[closed.end() :]
                self.thoughts = self.thoughts or [""]
            else:
                keep = kept_end(text, TAGS[self.tag])
                found += self.think(text[: len(text) - keep])
                self.held = text[len(text) - keep :]
                break
        return found

    def think(self, text: str) -> list[Delta]:
        text = text if any(self.thoughts) else text.lstrip()
        if not text:
            return []
        self.thoughts.append(text)
        return [ReasoningDelta(text, UNNAMED)]

    def released(self) -> list[Delta]:
        """Return the deltas of the buffered text, because other content follows."""
        held, self.held = self.held, ""
        if self.tag:
            return self.think(held)
        self.is_over = True
        return [TextDelta(held)] if held and not (self.thoughts and held.isspace()) else []

    def end(self, reason: str) -> list[Delta]:
        """Return the deltas that remain at the end of an answer. A thought without a closing tag
        becomes the answer, unless the finish reason is `length` or the model calls tools.
        """
        if self.is_over:
            return []
        found = self.released()
        if self.tag and not self.has_calls and reason != "length":
            found.append(TextDelta("".join(self.thoughts)))
        self.is_over = True
        return found


def may_open(text: str) -> bool:
    """Return True if more text could make `text` an opening tag."""
    return text.lower() in _beginnings


def kept_end(text: str, closing: str) -> int:
    """Return the number of characters at the end of the text that may belong to the closing tag or
    the blanks before it.
    """
    lowered = text.lower()
    size = min(len(closing) - 1, len(text))
    kept = next((n for n in range(size, 0, -1) if lowered.endswith(closing[:n])), 0)
    rest = text[: len(text) - kept]
    return kept + min(len(rest) - len(rest.rstrip()), MOST_BLANKS)


def without_opening_tag(deltas: list[Delta]) -> list[Delta]:
    """Return the deltas of a whole answer, with the text before a closing tag as reasoning, if the
    prompt contained the opening tag.
    """
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    closed = _whole.search(said)
    if closed is None or "<think" in said.lower():
        return deltas
    thought, text = said[: closed.start()].strip(), said[closed.end() :]
    rest = [delta for delta in deltas if not isinstance(delta, TextDelta)]
    begun: list[Delta] = [ReasoningDelta(thought, UNNAMED)] if thought else []
    return [*begun, TextDelta(text), *rest]
