"""Defines toolsets of the kind `dial-deployment`."""

from typing import Literal

from apps.manifest.kind import Kind
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import AnyDeploymentTool


class DeploymentToolSet(WrittenToolSet):
    """Models and applications that the model can call as tools."""

    kind = Kind(
        title="Models and applications",
        tools="models and applications",
        order=2,
        is_deferrable=False,  # It has few tools, and each of them is an agent.
    )

    type: Literal["dial-deployment"] = "dial-deployment"
    """The tools are deployments."""
    is_repeatable: bool | None = None
    """True if calling a tool twice has the same effect as calling it once. This value applies to
    tools that do not set this field themselves. Null: determined for each tool.
    """
    is_untrusted: bool | None = None
    """True if third parties control the results. This value applies to tools that do not set this
    field themselves. Null: false.
    """
    tools: tuple[AnyDeploymentTool, ...]
    """The deployments that are available as tools. For each tool, define the function yourself, let
    QuickApps generate the function, or refer to a predefined tool.
    """
