"""Returns the predefined prompts, their variables, and the deployments for which each is
written.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from django.conf import settings

from apps.catalog.content.layers import MOST_CONTENTS, Content
from apps.manifest.manifest import Manifest
from apps.manifest.problems import Problem
from apps.manifest.prompts import PredefinedSystemPrompt


def template_variables(locale: str) -> dict[str, str]:
    """Return the values of the variables that a prompt can contain in braces, by name."""
    today = datetime.now(UTC).date().isoformat()
    return {"today": today, "locale": locale}


@lru_cache(maxsize=MOST_CONTENTS)
def installed_prompts(content: Content) -> Mapping[str, str]:
    """Return the texts of the usable prompts by name. The result is cached, because a `Content`
    object never changes.
    """
    prompts = content.items["prompt"].items()
    return {name: item.value for name, item in prompts if not item.problem}


@lru_cache(maxsize=MOST_CONTENTS)
def broken_prompts(content: Content) -> Mapping[str, str]:
    """Return the problem of each prompt that cannot be used, by the prompt's name."""
    prompts = content.items["prompt"].items()
    return {name: item.problem for name, item in prompts if item.problem}


def prompt_of(deployment_id: str) -> str:
    """Return the name of the prompt that CONFIG_PROMPT_MAPPING assigns to the deployment, or "" for
    none.
    """
    groups = settings.CONFIG_PROMPT_MAPPING.items()
    return next((name for name, members in groups if deployment_id in members), "")


def other_prompts(manifest: Manifest) -> Iterator[Problem]:
    """Yield a warning if an application uses a prompt that is written for other deployments.

    Prompts that are not in the mapping can be used with any deployment.
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
