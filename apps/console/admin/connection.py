"""Ask a deployment for a word, and say what came of it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from asgiref.sync import async_to_sync

from apps.workspace.local.models import Deployment
from apps.workspace.openai.probe import probe


@dataclass(frozen=True, slots=True)
class Outcome:
    ok: bool
    message: str


def try_connection(deployment: Deployment) -> Outcome:
    """Waits for the service, for a bounded time."""
    if deployment.provider == Deployment.Provider.DEMO:
        return Outcome(True, "The demo model answers; it is part of this server.")
    result = async_to_sync(probe)(
        base_url=deployment.base_url,
        api_key=stored_key(deployment),
        model=deployment.model_name or deployment.deployment_id,
        dial=deployment.features.get("dial") is True,
    )
    return Outcome(result.failed is None, result.text)


def stored_key(deployment: Deployment) -> str:
    if deployment.api_key or not deployment.api_key_env:
        return str(deployment.api_key)
    return os.environ.get(deployment.api_key_env, "")
