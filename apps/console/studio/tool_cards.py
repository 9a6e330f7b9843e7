"""What a card of the studio says of a toolset beside its own fields: its kind, its tools, its failures.

The draft need not be valid: what cannot be read says nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max
from django.utils import timezone
from pydantic import TypeAdapter, ValidationError

from apps.catalog.content.installed import installed
from apps.catalog.content.layers import Content
from apps.console.studio.tool_sources.parameter_dialect import listed
from apps.console.workbench.toolsets import host_of, origin
from apps.insights.recent_errors import failed_uses
from apps.manifest.names import localized, possible_names, sanitize
from apps.manifest.toolsets import ToolSet

DAYS = 7
"""For which failures are told."""
REMOTE = frozenset({"mcp", "dial-mcp", "dial-app"})
PREFIXED = frozenset({"rest-api", *REMOTE})

_toolset: TypeAdapter[ToolSet] = TypeAdapter(ToolSet)


@dataclass(frozen=True, slots=True)
class Failures:
    tool: str
    count: int
    last: datetime


@dataclass(frozen=True, slots=True)
class ToolsetCard:
    """`tools` are the names that the manifest knows; None for all that a server tells."""

    name: str
    kind: str
    about: str
    tools: tuple[str, ...] | None
    failures: tuple[Failures, ...]


def toolset_cards(document: Mapping[str, Any], slug: str) -> list[ToolsetCard]:
    written = listed(document.get("tool_sets"))
    failed = failures_of(slug) if written else ()
    content = installed()
    return [card_of(one if isinstance(one, dict) else {}, failed, content) for one in written]


def failures_of(slug: str) -> tuple[Failures, ...]:
    since = timezone.now() - timedelta(days=DAYS)
    rows = failed_uses(since, (slug,)).order_by().values("tool")
    found = rows.annotate(count=Count("pk"), last=Max("started_at")).order_by("-last")
    return tuple(Failures(row["tool"], row["count"], row["last"]) for row in found)


def card_of(
    written: Mapping[str, Any], failed: Iterable[Failures], content: Content
) -> ToolsetCard:
    about = ""
    toolset = written
    if written.get("type") == "predefined":
        item = content.items["toolset"].get(str(written.get("template_name")))
        about = f"predefined: {written.get('template_name')}"
        override = written.get("override")
        value = item.value if item is not None and isinstance(item.value, dict) else {}
        toolset = {**value, **(override if isinstance(override, dict) else {})}
    kind = toolset["type"] if isinstance(toolset.get("type"), str) else ""
    names = tool_names(toolset, content)
    name = name_of(toolset)
    shown = name or str(written.get("template_name") or "")
    own = tuple(one for one in failed if is_of(one.tool, kind, name, names))
    return ToolsetCard(shown, kind, about or about_of(written), names, own)


def about_of(written: Mapping[str, Any]) -> str:
    """Where its tools are, as far as their number does not say it already."""
    if isinstance(written.get("tools"), list):
        base_url = written.get("base_url")
        return host_of(base_url) if isinstance(base_url, str) else ""
    try:
        return origin(_toolset.validate_python(written))
    except ValidationError:
        return ""


def name_of(toolset: Mapping[str, Any]) -> str:
    name = toolset.get("name")
    if isinstance(name, dict):
        return localized({str(key): str(text) for key, text in name.items()})
    return name if isinstance(name, str) else ""


def tool_names(toolset: Mapping[str, Any], content: Content) -> tuple[str, ...] | None:
    if toolset.get("type") in tuple(REMOTE):
        allowed = listed(toolset.get("allowed_tools"))
        return tuple(map(str, allowed)) if allowed else None
    return tuple(tool_name(tool, content) for tool in listed(toolset.get("tools")))


def tool_name(tool: Any, content: Content) -> str:
    if not isinstance(tool, dict):
        return ""
    if isinstance(tool.get("template_name"), str):
        item = content.items["tool"].get(tool["template_name"])
        value = item.value if item is not None else None
        return (tool_name(value, content) if value else "") or tool["template_name"]
    told = tool.get("open_ai_tool")
    function = told.get("function") if isinstance(told, dict) else None
    named = function.get("name") if isinstance(function, dict) else tool.get("name")
    return str(named or tool.get("deployment_id") or "")


def is_of(tool: str, kind: str, name: str, names: tuple[str, ...] | None) -> bool:
    """Whether a model's name of a tool is that of one in the toolset."""
    if names is None:
        return bool(name) and tool.startswith(sanitize(f"{name}_"))
    if kind in PREFIXED:
        return any(tool in possible_names(name, one) for one in names)
    return any(tool == sanitize(one) for one in names)
