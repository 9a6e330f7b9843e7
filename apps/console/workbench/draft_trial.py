"""Tools of a document that is not saved, tried as those of a saved application are."""

from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpRequest

from apps.catalog.models import Application
from apps.console.workbench.views import (
    caller_of,
    entry_at,
    resolve_place,
    tool_context,
    tool_details,
)
from apps.runs.tool_trial import offer


def trial_of_draft(
    request: HttpRequest, draft: Application, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """The context of a part of a page: the toolset `place` opened, or its tool `name` with a form.

    `arguments` are the typed texts of that form, by which the tool is called. Raises Http404,
    `ApplicationBroken`.
    """
    application, index = resolve_place(draft, str(asked.get("place", "")))
    caller = caller_of(request)
    offered = async_to_sync(offer)(application, caller, index)
    common = {"toolset": entry_at(draft, application, index), "offered": offered}
    if not (name := str(asked.get("name") or "")):
        return {**common, "tools": [tool_details(tool, offered) for tool in offered.tools]}
    typed = asked.get("arguments")
    texts = (
        {str(key): str(text) for key, text in typed.items()} if isinstance(typed, dict) else None
    )
    found = tool_context(application, caller, offered, name, texts)
    return {**common, **found, "is_called": texts is not None}
