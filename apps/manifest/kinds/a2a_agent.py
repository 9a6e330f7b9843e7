"""Defines toolsets of the kind `a2a-agent`."""

from typing import Literal

from apps.manifest.kind import CardField, Kind
from apps.manifest.servers import host_and_port
from apps.manifest.toolsets.agents import AgentToolSet


class A2aAgentToolSet(AgentToolSet):
    """One tool that calls an agent through A2A 1.0."""

    kind = Kind(
        title="A2A agent",
        tools="one tool that sends tasks to an A2A agent",
        order=60,
        is_deferrable=False,  # Its only tool is an agent.
        card=(
            CardField("text", "url", "Agent URL", "https://agents.example.com/travel"),
            CardField("authorization", "authorization"),
        ),
    )

    type: Literal["a2a-agent"] = "a2a-agent"
    """The tool is an agent that supports A2A 1.0. The tool's name is `name`, or the name on the
    agent's card if `name` is empty. Without a `description`, the tool has the card's description.
    """
    url: str
    """The URL of the agent, such as `https://agents.example.com/travel`, or of its card. A URL that
    begins with `/` refers to this server. Unless the URL ends in `.json`, QuickApps reads the card
    from `/.well-known/agent-card.json` below this URL.
    """

    @property
    def origin(self) -> str:
        return host_and_port(self.url)
