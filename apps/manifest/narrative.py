"""What a person looks at while they ask: said in the conversation, where they see it as well."""

import re

LONGEST_NARRATIVE = 2_000
"""Characters."""
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


def without_narrative(text: str) -> str:
    """The question alone, of a text that `narrated` has made."""
    return _narrative.sub("", text, count=1)
