"""Toolsets of the kind `a2a-agent`."""

from typing import Literal

from apps.manifest.kind import CardField, Kind
from apps.manifest.servers import host_and_port
from apps.manifest.toolsets.agents import AgentToolSet


class A2aAgentToolSet(AgentToolSet):
    """An agent that speaks A2A 1.0, as one tool."""

    kind = Kind(
        title="A2A agent",
        tools="one tool that sends tasks to an agent of the A2A protocol",
        order=60,
        is_deferrable=False,  # It has one tool, which is an agent of its own.
        card=(
            CardField("text", "url", "Agent URL", "https://agents.example.com/travel"),
            CardField("authorization", "authorization"),
        ),
    )

    type: Literal["a2a-agent"] = "a2a-agent"
    """The tool is an agent that speaks A2A 1.0. It is named after `name`, or after the agent's card
    if `name` is empty; without a `description`, the card's description is used.
    """
    url: str
    """The URL of the agent, such as `https://agents.example.com/travel`, or of its card; a URL that
    begins with `/` is on this server. Unless the URL ends in `.json`, the card is read from
    `/.well-known/agent-card.json` below it.
    """

    @property
    def origin(self) -> str:
        return host_and_port(self.url)
