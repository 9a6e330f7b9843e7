"""Which predefined prompt is meant for which deployments (`CONFIG_PROMPT_MAPPING`)."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from apps.manifest.manifest import Manifest
from apps.manifest.problems import Problem
from apps.manifest.prompts import PredefinedSystemPrompt


def prompt_of(deployment_id: str) -> str:
    """The name of the prompt that is meant for a deployment, "" if none is."""
    groups = settings.CONFIG_PROMPT_MAPPING.items()
    return next((name for name, members in groups if deployment_id in members), "")


def other_prompts(manifest: Manifest) -> Iterator[Problem]:
    """A warning where an application takes a prompt that is meant for other deployments.

    One that the mapping does not name is the operator's own, and fits what they think it fits.
    """
    prompt = manifest.orchestrator.system_prompt
    if not isinstance(prompt, PredefinedSystemPrompt):
        return
    deployment_id = manifest.orchestrator.deployment.id
    meant = prompt_of(deployment_id)
    if meant not in ("", prompt.template) and prompt.template in settings.CONFIG_PROMPT_MAPPING:
        yield Problem(
            "orchestrator.system_prompt.template",
            f"The prompt '{prompt.template}' is meant for other models; "
            f"'{meant}' is the one for '{deployment_id}'.",
        )
