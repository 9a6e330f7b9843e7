"""What `manage.py check`, and with it every start, says about predefined content."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register

from apps.catalog.content.installed import directories
from apps.catalog.content.layers import read_layers
from apps.catalog.content.review import content_problems

HINT = "Applications that use it go on without it, or stop if it is their prompt. Mend the file."


@register(Tags.files)
def content_is_usable(**options: Any) -> list[CheckMessage]:
    """A warning for each mistake: one broken file is no reason to keep the others from starting."""
    problems = content_problems(read_layers(directories()))
    return [Warning(problem, hint=HINT, id="quickapps.W003") for problem in problems]
