"""Defines toolsets of the kind `responses-agent`."""

from collections.abc import Iterator
from typing import Literal

from apps.manifest.kind import CardField, Kind
from apps.manifest.names import localize_text, sanitize
from apps.manifest.servers import host_and_port
from apps.manifest.toolsets.agents import AgentToolSet


class ResponsesAgentToolSet(AgentToolSet):
    """One tool that calls an agent through a Responses API."""

    kind = Kind(
        title="Responses agent",
        tools="one tool that calls an agent through OpenAI's Responses API",
        order=61,
        is_deferrable=False,  # Its only tool is an agent.
        card=(
            CardField("text", "base_url", "API URL", "https://agents.example.com/v1"),
            CardField("text", "model", "Model or agent", "travel"),
            CardField("authorization", "authorization"),
        ),
    )

    type: Literal["responses-agent"] = "responses-agent"
    """The tool is an agent or model that supports OpenAI's Responses API. The tool's name is
    `name`, or `model` if `name` is empty.
    """
    base_url: str
    """The URL of the API with its version, such as `https://agents.example.com/v1`. QuickApps sends
    requests to `/responses` below this URL.
    """
    model: str
    """The value of the `model` field in requests, which is the agent's name on its server."""

    @property
    def origin(self) -> str:
        return f"{self.model} on {host_and_port(self.base_url)}"

    def visible_tools(self) -> Iterator[tuple[str, str]]:
        if localize_text(self.name):
            yield from super().visible_tools()
        else:
            yield sanitize(self.model), "model"
