"""Reads the predefined prompts, and determines their variables and deployments."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from django.conf import settings

from apps.catalog.content.layers import MOST_CONTENTS, Content
from apps.manifest.manifest import Manifest
from apps.manifest.problems import Problem
from apps.manifest.prompts import PredefinedSystemPrompt


def template_variables(locale: str) -> dict[str, str]:
    """Return the values of the variables that prompts can contain in braces, such as `{today}`."""
    today = datetime.now(UTC).date().isoformat()
    return {**settings.PROMPT_VARIABLES, "today": today, "locale": locale}


@lru_cache(maxsize=MOST_CONTENTS)
def installed_prompts(content: Content) -> Mapping[str, str]:
    """Return the usable prompts' texts by name, cached for each immutable `Content` object."""
    prompts = content.items["prompt"].items()
    return {name: item.value for name, item in prompts if not item.problem}


@lru_cache(maxsize=MOST_CONTENTS)
def broken_prompts(content: Content) -> Mapping[str, str]:
    """Map the name of each unusable prompt to its problem."""
    prompts = content.items["prompt"].items()
    return {name: item.problem for name, item in prompts if item.problem}


def prompt_of(deployment_id: str) -> str:
    """Return the name of the prompt that `CONFIG_PROMPT_MAPPING` assigns to the deployment, or ""."""
    groups = settings.CONFIG_PROMPT_MAPPING.items()
    return next((name for name, members in groups if deployment_id in members), "")


def other_prompts(manifest: Manifest) -> Iterator[Problem]:
    """Yield a warning if the application's prompt was written for other deployments.

    Prompts that are not in `CONFIG_PROMPT_MAPPING` suit every deployment.
    """
    prompt = manifest.orchestrator.system_prompt
    if not isinstance(prompt, PredefinedSystemPrompt):
        return
    deployment_id = manifest.orchestrator.deployment.id
    meant = prompt_of(deployment_id)
    if meant not in ("", prompt.template) and prompt.template in settings.CONFIG_PROMPT_MAPPING:
        yield Problem(
            "orchestrator.system_prompt.template",
            f"The prompt '{prompt.template}' is meant for other models; for '{deployment_id}', "
            f"use '{meant}'.",
        )
