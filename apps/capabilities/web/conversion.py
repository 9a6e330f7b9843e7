"""Pages as Markdown, made by a process of their own that cannot hold anybody up."""

from __future__ import annotations

import logging

from django.conf import settings

from apps.documents.html import HEAVY, without_element
from apps.documents.pages import Unreadable
from apps.documents.reader import Bounds, html_to_markdown

logger = logging.getLogger(__name__)

AT_ONCE = 2
"""Pages that one run has converted at the same time."""


async def to_markdown(page: str, url: str, seconds: float) -> str:
    """The page as it was written, without scripts and styles, where it cannot be converted."""
    bounds = Bounds(seconds, int(settings.DOCUMENTS_MEMORY_MB) * 1024 * 1024)
    try:
        return await html_to_markdown(page, url.partition("?")[0], bounds=bounds)
    except Unreadable as error:
        logger.warning("A page could not be converted to Markdown: %s", error)
    for name in HEAVY:
        page = without_element(page, name)
    return page
