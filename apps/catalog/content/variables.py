"""What predefined prompts may name in braces."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings


def template_variables(locale: str) -> dict[str, str]:
    """The day, whom a prompt speaks to, and what the installation adds."""
    today = datetime.now(UTC).date().isoformat()
    return {**settings.PROMPT_VARIABLES, "today": today, "locale": locale}
