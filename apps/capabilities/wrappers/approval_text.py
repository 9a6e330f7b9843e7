"""The card of a call that waits for approval, as text."""

import json
from collections.abc import Mapping
from typing import Any

from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.capabilities.wrappers.texts import VALUE_CHARACTERS, fenced, one_line, shortened

APPROVE, DENY = 1, 2
RISKS = {"destructive": "It may destroy something.", "changes": "It changes something."}
WHY_CHARACTERS = 300
ADVICE = "Answer with a number. Any other answer denies the call."


def approval_card(asked: Mapping[str, Any]) -> NumberedCard:
    arguments = shortened(
        json.dumps(asked["arguments"], ensure_ascii=False, indent=1), VALUE_CHARACTERS
    )
    # In a code block, because the model and what it has read wrote parts of it.
    because = one_line(asked.get("because", ""), WHY_CHARACTERS)
    call = fenced(f"{one_line(asked['title'])}\n{asked['name']} {arguments}\n{because}".rstrip())
    risk = RISKS.get(asked["risk"], "")
    text = f"**May this be done?** {risk}".rstrip()
    return NumberedCard(f"{text}\n\n{call}", ("Approve", "Deny"), ADVICE)


def approval_answer(asked: Mapping[str, Any], text: str, value: Any = None) -> dict[str, Any]:
    """The answer that a message is; it has a `reason` if it is no exact choice."""
    chosen = approval_card(asked).chosen(text, value)
    if chosen == (APPROVE,):
        return {"outcome": "approved"}
    return {"outcome": "denied"} if chosen == (DENY,) else {"outcome": "denied", "reason": text}
