"""A run with what the layers of its prompt need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from apps.accounts.caller import Caller
from apps.capabilities.registry import PreparedCapabilities
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.manifest import Manifest
from apps.manifest.validation.validation import read_manifest
from apps.runs.prompt import PromptContext
from apps.runs.requests import RunRequest
from apps.workspace.local.workspace import LocalWorkspace
from tests.catalog.rows import manifest_with

CALLER = Caller("user-1")
MANIFEST = manifest_with(orchestrator={"deployment": {"deployment_id": "gpt"}})


def context_of(manifest: Manifest | None = None, request: Any = None, **known: Any):
    """Return a context. `known` are prompts of layers, instructions of capabilities, and the
    `team`."""
    caller = replace(CALLER, team=known.pop("team", None))
    instructions = known.pop("instructions", ())
    manifest = manifest or read_manifest(MANIFEST)
    application = ResolvedApplication(
        1, "travel", "Travel", "", True, 1, manifest, PreparedCapabilities((), ()), **known
    )
    request = request or RunRequest(())
    workspace = LocalWorkspace(caller)
    return PromptContext(application, request, workspace, caller, request.messages, instructions)
