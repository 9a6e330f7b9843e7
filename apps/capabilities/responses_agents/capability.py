"""Defines toolsets of the kind `responses-agent`. The tool of such a toolset calls an agent through
a Responses API.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from apps.capabilities.deployment.parameters import generate_parameters
from apps.capabilities.deployment.targets import Target
from apps.capabilities.registry import Capability, Contribution, Open, Opening, PreparedTool
from apps.capabilities.remote_agents.servers import AgentServer, read_server, secret_needs
from apps.capabilities.remote_agents.tools import agent_tool
from apps.capabilities.responses_agents.calls import ResponsesAgent, call_agent
from apps.errors import InitializationIssue
from apps.manifest.kinds.responses_agent import ResponsesAgentToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import localize_text
from apps.manifest.nodes import enabled_nodes
from apps.workspace.egress.guard import Trust
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.local.secrets.stored_secrets import SecretNeed, unsendable_credentials
from apps.workspace.port import DeploymentInfo


def prepare(manifest: Manifest) -> Open | None:
    tools: list[tuple[PreparedTool, list[SecretNeed]]] = []
    refused: list[InitializationIssue] = []
    seconds = rules_of(manifest).seconds
    for path, node in enabled_nodes(ResponsesAgentToolSet, manifest.tool_sets, "tool_sets"):
        try:
            server = read_server(path, "base_url", node.base_url, node, seconds)
            check_host(path, server)
        except InitializationIssue as issue:
            refused.append(issue)
        else:
            tool = prepare_agent(path, node, server, manifest)
            tools.append((tool, list(secret_needs(path, server))))
    if not tools and not refused:
        return None

    @asynccontextmanager
    async def open_agents(opening: Opening) -> AsyncIterator[Contribution]:
        problems = await unsendable_credentials([need for _, needs in tools for need in needs])
        usable = (tool for tool, needs in tools if not any(n.path in problems for n in needs))
        issues = (InitializationIssue(f"{place}: {why}") for place, why in problems.items())
        bound = tuple(tool.bind(opening) for tool in usable)
        yield Contribution(bound, issues=(*refused, *issues))

    return open_agents


def check_host(path: str, server: AgentServer) -> None:
    """Raise `InitializationIssue` if the base URL has no host and therefore refers to this site."""
    if server.trust is Trust.SITE:
        raise InitializationIssue(
            f"{path}.base_url: use a URL that begins with http:// or https://."
        )


def prepare_agent(
    path: str, node: ResponsesAgentToolSet, server: AgentServer, manifest: Manifest
) -> PreparedTool:
    [(name, _)] = node.visible_tools()
    id = f"{server.host}/{node.model}"
    info = DeploymentInfo(id, node.model, files="data")
    features = manifest.features
    target = Target(
        name,
        id,
        server.seconds,
        is_resumable=True,
        attachment=node.attachment,
        shows_stages=features is None or features.stage_display.propagate_sub_stages,
    )
    return agent_tool(
        path,
        node,
        manifest,
        name=name,
        title=node.name or node.model,
        description=localize_text(node.description) or f"Asks the agent {node.model}.",
        parameters=generate_parameters(info, is_resumable=True),
        work=partial(call_agent, ResponsesAgent(target, info, server, node.model)),
        account=server.account,
        attachment=None,  # Filtered on arrival, so that the stage can show attachments early.
    )


SERVES = frozenset({"tool_sets.responses-agent"})
responses_agents = Capability("responses_agents", SERVES, prepare)
