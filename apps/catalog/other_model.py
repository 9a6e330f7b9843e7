"""An application whose answers another model gives, one of those that its manifest offers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.capabilities.registry import prepare
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.manifest import Manifest


def offered_models(application: ResolvedApplication) -> tuple[str, ...]:
    """Ids of the deployments that people may choose, the application's own first; () for no choice."""
    own, others = application.deployment_id, application.manifest.orchestrator.choices
    found = tuple(dict.fromkeys((own, *others)))
    return found if len(found) > 1 else ()


def with_model(application: ResolvedApplication, deployment_id: str) -> ResolvedApplication:
    """The application with its capabilities prepared anew: some depend on what its model can do."""
    if deployment_id in ("", application.deployment_id):
        return application
    manifest = manifest_with(application.manifest, deployment_id)
    issues = application.prepared.issues
    return replace(
        application,
        manifest=manifest,
        prepared=replace(prepare(manifest), issues=issues),
        document=document_with(application.document, deployment_id),
    )


def manifest_with(manifest: Manifest, deployment_id: str) -> Manifest:
    orchestrator = manifest.orchestrator
    other = orchestrator.deployment.model_copy(update={"deployment_id": deployment_id})
    changed = orchestrator.model_copy(update={"deployment": other})
    return manifest.model_copy(update={"orchestrator": changed})


def document_with(document: Mapping[str, Any], deployment_id: str) -> dict[str, Any]:
    """The manifest as it was written, with another model; `name` gives way to `deployment_id`."""
    orchestrator = document.get("orchestrator") or {}
    deployment = {**(orchestrator.get("deployment") or {}), "deployment_id": deployment_id}
    return {**document, "orchestrator": {**orchestrator, "deployment": deployment}}
