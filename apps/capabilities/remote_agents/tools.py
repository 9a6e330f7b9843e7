"""Builds the tool that calls a remote agent."""

from apps.capabilities.deployment.capability import LONGEST_SECONDS
from apps.capabilities.deployment.parameters import FILES
from apps.capabilities.registry import PreparedTool, Work
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.sign_in import with_sign_in
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.manifest.manifest import Manifest
from apps.manifest.names import Localized
from apps.manifest.toolsets.agents import AgentToolSet
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.manifest.toolsets.parameters import FunctionParameters
from apps.workspace.oauth.accounts import RequiredAccount

DESCRIPTION_CHARACTERS = 10_000


def agent_tool(
    path: str,
    node: AgentToolSet,
    manifest: Manifest,
    *,
    name: str,
    title: Localized,
    description: str,
    parameters: FunctionParameters,
    work: Work,
    account: RequiredAccount | None,
    attachment: AttachmentFilter | None,
) -> PreparedTool:
    """Return the tool that calls an agent, with the options of its toolset.

    `account` is the user's own account on the server. If `attachment` is None, `work` filters
    attachments itself.
    """
    options = ToolOptions(
        read_arguments(parameters),
        display_of(manifest, title, parameters=parameters),
        LONGEST_SECONDS,
        attachment,
        node.fallback_configuration,
        is_repeatable=node.is_repeatable,
        is_untrusted=node.is_untrusted,
        addresses=frozenset({FILES}),
        approval=approval_rules(manifest, node.approval),
    )
    described = shorten_text(description, DESCRIPTION_CHARACTERS)
    tool = prepared_tool(name, described, work, options, toolset=path)
    return with_sign_in(tool, account) if account is not None else tool
