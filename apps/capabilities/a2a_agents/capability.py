"""Defines toolsets of the kind `a2a-agent`. The tool in such a toolset calls an agent over the A2A
protocol.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from apps.agent.tools import Tool
from apps.capabilities.a2a_agents.calls import A2aAgent, call_agent
from apps.capabilities.a2a_agents.cards import AgentCard, find_agent
from apps.capabilities.deployment.parameters import generate_parameters
from apps.capabilities.deployment.targets import Target
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.remote_agents.servers import (
    AgentServer,
    CredentialsRefused,
    read_server,
    secret_needs,
)
from apps.capabilities.remote_agents.tools import agent_tool
from apps.errors import InitializationIssue, ToolError
from apps.manifest.kinds.a2a_agent import A2aAgentToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import localize_text, sanitize
from apps.manifest.nodes import enabled_nodes
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.local.secrets.stored_secrets import unsendable_credentials
from apps.workspace.port import DeploymentInfo

TEXT_TYPES = frozenset({"text/plain", "text/markdown"})
"""The media types of text. An agent that accepts only these types cannot receive files."""


@dataclass(frozen=True, slots=True)
class PreparedAgent:
    """An agent in a manifest, before its agent card is loaded."""

    path: str
    """The position of the toolset in the manifest, such as `tool_sets[2]`."""
    node: A2aAgentToolSet
    server: AgentServer
    manifest: Manifest

    async def open(self, opening: Opening) -> Tool | InitializationIssue:
        needs = list(secret_needs(self.path, self.server))
        for place, problem in (await unsendable_credentials(needs)).items():
            return InitializationIssue(f"{place}: {problem}")
        node = self.node
        given = localize_text(node.name)
        try:
            card = (await find_agent(self.server, opening.caller)).card
        except ToolError as error:
            is_sign_in = isinstance(error, CredentialsRefused) and self.server.account is not None
            if not (is_sign_in and given):
                return self.issue(error)
            card = AgentCard(given)  # The user signs in with the first call.
        name = sanitize(given or card.name)
        info = file_rules(self.server, card)
        parameters = generate_parameters(info, is_resumable=True)
        target = Target(name, info.id, self.server.seconds, is_resumable=True)
        agent = A2aAgent(target, info, self.server, node.attachment)
        tool = agent_tool(
            self.path,
            node,
            self.manifest,
            name=name,
            title=node.name or card.name,
            description=localize_text(node.description) or card.summary or card.name,
            parameters=parameters,
            work=partial(call_agent, agent),
            account=self.server.account,
            attachment=node.attachment,
        )
        return tool.bind(opening)

    def issue(self, error: ToolError) -> InitializationIssue:
        """Return an initialization issue whose text begins with the toolset's name."""
        label, text = self.server.label, str(error)
        is_named = text.startswith(label)
        return InitializationIssue(f"Toolset {text if is_named else f'{label}: {text}'}")


def file_rules(server: AgentServer, card: AgentCard) -> DeploymentInfo:
    types = card.input_types
    takes_files = bool(set(types) - TEXT_TYPES)
    return DeploymentInfo(
        server.host,
        card.name,
        input_attachment_types=types if takes_files else (),
        files="data" if takes_files else "none",
    )


def prepare(manifest: Manifest) -> Open | None:
    agents: list[PreparedAgent] = []
    refused: list[InitializationIssue] = []
    seconds = rules_of(manifest).seconds
    for path, node in enabled_nodes(A2aAgentToolSet, manifest.tool_sets, "tool_sets"):
        try:
            server = read_server(path, "url", node.url, node, seconds)
        except InitializationIssue as issue:
            refused.append(issue)
        else:
            agents.append(PreparedAgent(path, node, server, manifest))
    if not agents and not refused:
        return None

    @asynccontextmanager
    async def open_agents(opening: Opening) -> AsyncIterator[Contribution]:
        opened = await asyncio.gather(*(agent.open(opening) for agent in agents))
        tools = tuple(one for one in opened if isinstance(one, Tool))
        issues = (one for one in opened if isinstance(one, InitializationIssue))
        yield Contribution(tools, issues=(*refused, *issues))

    return open_agents


a2a_agents = Capability("a2a_agents", frozenset({"tool_sets.a2a-agent"}), prepare)
