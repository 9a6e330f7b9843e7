"""The fields of a request beside its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.capabilities.deployment.parameters import configurable
from apps.capabilities.deployment.targets import Target
from apps.workspace.port import DeploymentInfo


def parameters_of(
    target: Target, info: DeploymentInfo, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """The deployment's defaults, overlaid by the manifest's, overlaid by the arguments.

    What the deployment declares as its configuration goes into `custom_fields`. Nothing that the
    model has made up goes anywhere.
    """
    declared = configurable(info.configuration_schema)
    given = {name: value for name, value in arguments.items() if name in target.arguments}
    flat = {name: value for name, value in given.items() if name not in declared}
    configuration = {name: value for name, value in given.items() if name in declared}
    merged = {**info.defaults, **said(target.parameters), **said(flat)}
    fields = dict(merged.pop("custom_fields", None) or {})
    fields["configuration"] = said({**(fields.get("configuration") or {}), **configuration})
    return {**merged, **said({"custom_fields": said(fields)})}


def said(values: Mapping[str, Any]) -> dict[str, Any]:
    """What says something: null and {} leave the choice to the deployment."""
    return {name: value for name, value in values.items() if value is not None and value != {}}
