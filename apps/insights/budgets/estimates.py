"""How many tokens a call will probably take, for what is reserved of budgets before it."""

from collections import defaultdict, deque

from apps.agent.events import ModelUsage
from apps.agent.model import ModelRequest

CHARACTERS_PER_TOKEN = 4
"""Of English; the vendors' rule of thumb. What was really used is counted after the call."""
FIRST_OUTPUT = 256
"""Tokens of an answer, as long as a deployment has given none."""
LAST_CALLS = 20


def input_tokens(request: ModelRequest) -> int:
    """Of the texts of the conversation and of the tools; pictures are not known to it."""
    characters = 0
    for message in request.messages:
        characters += len(message.text)
        characters += sum(len(call.arguments) for call in message.tool_calls)
    characters += sum(len(tool.written) for tool in request.tools)
    return characters // CHARACTERS_PER_TOKEN


class Outputs:
    """The output of the last calls of each deployment, as this process has seen them."""

    def __init__(self) -> None:
        self.last: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=LAST_CALLS))

    def add(self, deployment: str, usage: tuple[ModelUsage, ...]) -> None:
        if usage:
            self.last[deployment].append(sum(one.output for one in usage))

    def mean(self, deployment: str) -> int:
        seen = self.last.get(deployment)
        return sum(seen) // len(seen) if seen else FIRST_OUTPUT
