"""Lists the models that a deployment's service offers, and creates deployments for them."""

import re
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from apps.workspace.anthropic.model import columns_of, key_headers
from apps.workspace.local.deployments.found_deployments import (
    FoundDeployment,
    deployment_key,
)
from apps.workspace.local.models import Deployment
from apps.workspace.openai.model import make_service
from apps.workspace.services.client import ModelService
from apps.workspace.services.model_list import (
    MODELS,
    MOST_LISTED,
    ListedModel,
    list_models,
    listed_capabilities,
)

JSON = ("Accept", "application/json")
Provider = Deployment.Provider

_unusable = re.compile(r"[^A-Za-z0-9._-]+")


def can_list(deployment: Deployment) -> bool:
    """Return True if the deployment's service can list its models. DIAL cannot, because each DIAL
    deployment has its own URL.
    """
    listing = (Provider.OPENAI, Provider.RESPONSES, Provider.ANTHROPIC)
    return deployment.provider in listing and not deployment.speaks_dial


async def models_of_service(found: FoundDeployment) -> list[ListedModel]:
    """Return the models of the deployment's service, sorted by name. Raises `ModelFailed` if the
    service fails.
    """
    return await list_models(list_service(found))


def list_service(found: FoundDeployment) -> ModelService:
    key = deployment_key(found)
    if found.provider == Provider.ANTHROPIC:
        page = f"{MODELS}?limit={MOST_LISTED}"
        return ModelService(found.base_url, page, (*key_headers(key, found.info.features), JSON))
    return make_service(found.base_url, key, MODELS, headers=dict([JSON]))


def used_names(deployment: Deployment) -> set[str]:
    """Return the names of the models at the deployment's service that already have deployments."""
    rows = Deployment.objects.filter(provider=deployment.provider)
    same = [row for row in rows if row.address.rstrip("/") == deployment.address.rstrip("/")]
    return {row.model_name or row.deployment_id for row in same}


def make_deployment(
    model: ListedModel, source: Deployment, used_ids: Collection[str]
) -> Deployment:
    """Return an unsaved chat deployment for a model at the service of `source`, with the same key
    and an ID that is not in `used_ids`.
    """
    return Deployment(
        deployment_id=free_id(model.id, used_ids),
        display_name=model.display_name[:200],
        provider=source.provider,
        base_url=source.base_url,
        model_name=model.id,
        api_key=source.api_key,
        api_key_env=source.api_key_env,
        **reported_columns(model, source.provider),
    )


def reported_columns(model: ListedModel, provider: str) -> dict[str, Any]:
    """Return the facts that the service reports about a model, as values of deployment columns."""
    if provider == Provider.ANTHROPIC:
        return columns_of(model.facts)
    return asdict(listed_capabilities(model.facts))


def free_id(name: str, used_ids: Collection[str]) -> str:
    """Return a deployment ID that is derived from a model's name and is not in `used_ids`."""
    plain = _unusable.sub("-", name).strip("-._")[:90] or "model"
    numbers = (f"{plain}-{number}" for number in range(2, len(used_ids) + 3))
    return next(one for one in (plain, *numbers) if one not in used_ids)
