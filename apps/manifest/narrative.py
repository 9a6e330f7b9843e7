"""What a person looks at while they ask: said in the conversation, where they see it as well."""

import re

LONGEST_NARRATIVE = 2_000
"""Characters."""
_trigger = re.compile(r"\A\[The (?:alarm|schedule) .*?\]\n\n", re.DOTALL)
_narrative = re.compile(r"\A\[The person .*?looks at: .*?\]\n\n", re.DOTALL)


def narrative_text(title: str, narrative: str) -> str:
    """What is said before the question; "" without a narrative. `title` is that of the place."""
    if not narrative:
        return ""
    where = f"is at “{title}” and " if title else ""
    return f"[The person {where}looks at: {narrative}]"


def narrated(text: str, title: str, narrative: str) -> str:
    """The question as the model reads it."""
    return "\n\n".join(filter(None, (narrative_text(title, narrative), text)))


def trigger_text(text: str, kind: str, name: str, at: str) -> str:
    """The message of an `alarm` or a `schedule` as the model reads it. `at` is its time."""
    asks = f"The schedule “{' '.join(name.split())}” asks this at its time, {at}"
    asks = f"The alarm that you set rings at its time, {at}" if kind == "alarm" else asks
    return f"[{asks}. Nobody may be reading along: ask back only where you cannot go on.]\n\n{text}"


def without_narrative(text: str) -> str:
    """The question alone, of a text that `narrated` or `trigger_text` has made."""
    return _narrative.sub("", _trigger.sub("", text, count=1), count=1)
