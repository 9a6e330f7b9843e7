"""The models that the service of a deployment lists, and deployments made of them."""

import re
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from apps.workspace.anthropic.model import key_headers
from apps.workspace.anthropic.model_facts import columns_of
from apps.workspace.local.deployments import FoundDeployment, key_of, speaks_dial
from apps.workspace.local.models import Deployment
from apps.workspace.openai.model import make_service
from apps.workspace.services.client import Service
from apps.workspace.services.listed_facts import listed_capabilities
from apps.workspace.services.model_list import MODELS, MOST_LISTED, ListedModel, list_models

JSON = ("Accept", "application/json")
Provider = Deployment.Provider

_unusable = re.compile(r"[^A-Za-z0-9._-]+")


def can_list(deployment: Deployment) -> bool:
    """DIAL's services are single deployments."""
    listing = (Provider.OPENAI, Provider.RESPONSES, Provider.ANTHROPIC)
    return deployment.provider in listing and not speaks_dial(deployment.features)


async def models_of_service(found: FoundDeployment) -> list[ListedModel]:
    """By name. Raises `ModelFailed`."""
    return await list_models(list_service(found))


def list_service(found: FoundDeployment) -> Service:
    key = key_of(found)
    if found.provider == Provider.ANTHROPIC:
        page = f"{MODELS}?limit={MOST_LISTED}"
        return Service(found.base_url, page, (*key_headers(key, found.info.features), JSON))
    return make_service(found.base_url, key, MODELS, headers=dict([JSON]))


def used_names(deployment: Deployment) -> set[str]:
    """The names of the service's models that have deployments."""
    rows = Deployment.objects.filter(provider=deployment.provider)
    same = [row for row in rows if row.address.rstrip("/") == deployment.address.rstrip("/")]
    return {row.model_name or row.deployment_id for row in same}


def make_deployment(model: ListedModel, source: Deployment, taken: Collection[str]) -> Deployment:
    """A chat deployment of the same service and key, not saved, with an id that is not `taken`."""
    return Deployment(
        deployment_id=free_id(model.id, taken),
        display_name=model.display_name[:200],
        provider=source.provider,
        base_url=source.base_url,
        model_name=model.id,
        api_key=source.api_key,
        api_key_env=source.api_key_env,
        **told_columns(model, source.provider),
    )


def told_columns(model: ListedModel, provider: str) -> dict[str, Any]:
    """What the service says of a model that a deployment has a column for."""
    if provider == Provider.ANTHROPIC:
        return columns_of(model.facts)
    return asdict(listed_capabilities(model.facts))


def free_id(name: str, taken: Collection[str]) -> str:
    plain = _unusable.sub("-", name).strip("-._")[:90] or "model"
    numbers = (f"{plain}-{number}" for number in range(2, len(taken) + 3))
    return next(one for one in (plain, *numbers) if one not in taken)
