"""Returns the kind, tools and recent failures of each toolset for its card in the studio.

The draft need not be valid. Parts that cannot be parsed are skipped.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max
from django.utils import timezone
from pydantic import TypeAdapter, ValidationError

from apps.catalog.content.installed import installed_content
from apps.catalog.content.layers import Content
from apps.console.studio.tool_sources.parameter_dialect import list_or_empty
from apps.insights.recent_errors import failed_uses
from apps.manifest.names import localize_text, possible_names, sanitize
from apps.manifest.servers import host_and_port
from apps.manifest.toolsets.kinds import KINDS, WRITTEN, Schema, ToolSet
from apps.manifest.toolsets.mcp import RemoteTools
from apps.manifest.toolsets.shared_fields import NamedToolSet, ToolSetFields

DAYS = 7
"""The number of past days whose failures the cards show."""

_toolset: TypeAdapter[ToolSet] = TypeAdapter(ToolSet)


@dataclass(frozen=True, slots=True)
class Failures:
    tool: str
    count: int
    last: datetime


@dataclass(frozen=True, slots=True)
class ToolsetCard:
    name: str
    kind: str
    about: str
    tools: tuple[str, ...] | None
    """The tools that the manifest selects, or None for all tools of a server."""
    failures: tuple[Failures, ...]


def kinds_on_cards() -> dict[str, Any]:
    """Return the layout of the card for each type of toolset, for the studio's script."""
    return {name: kind_on_cards(schema) for name, schema in KINDS.items()}


def kind_on_cards(schema: Schema) -> dict[str, Any]:
    """Return the layout of a card. `is_addable` is True if the card has inputs for all required
    fields, so that *Add tools* can offer the type.
    """
    required = {name for name, field in schema.model_fields.items() if field.is_required()}
    editable = {"name", *(one.path for one in schema.kind.card if one.editor != "server")}
    is_named = issubclass(schema, NamedToolSet)
    return {
        "title": schema.kind.title,
        "fields": [asdict(field) for field in schema.kind.card],
        "is_named": is_named,
        "is_remote": issubclass(schema, RemoteTools),
        "is_written": schema in WRITTEN,
        "is_addable": is_named and required <= editable,
    }


def toolset_cards(document: Mapping[str, Any], slug: str) -> list[ToolsetCard]:
    written = list_or_empty(document.get("tool_sets"))
    failed = failures_of(slug) if written else ()
    content = installed_content()
    return [card_of(one if isinstance(one, dict) else {}, failed, content) for one in written]


def failures_of(slug: str) -> tuple[Failures, ...]:
    since = timezone.now() - timedelta(days=DAYS)
    rows = failed_uses(since, (slug,)).order_by().values("tool")
    found = rows.annotate(count=Count("pk"), last=Max("started_at")).order_by("-last")
    return tuple(Failures(row["tool"], row["count"], row["last"]) for row in found)


def card_of(
    written: Mapping[str, Any], failed: Iterable[Failures], content: Content
) -> ToolsetCard:
    is_predefined = written.get("type") == "predefined"
    about = f"predefined: {written.get('template_name')}" if is_predefined else about_of(written)
    toolset = resolved_toolset(written, content)
    kind = toolset["type"] if isinstance(toolset.get("type"), str) else ""
    names = tool_names(toolset, content)
    own = tuple(one for one in failed if is_of(one.tool, kind, toolset_name(toolset), names))
    return ToolsetCard(shown_name(written, content), kind, about, names, own)


def resolved_toolset(written: Mapping[str, Any], content: Content) -> Mapping[str, Any]:
    """Return the fields of a toolset, including those of the predefined toolset to which it
    refers.
    """
    if written.get("type") != "predefined":
        return written
    item = content.items["toolset"].get(str(written.get("template_name")))
    value = item.value if item is not None and isinstance(item.value, dict) else {}
    override = written.get("override")
    return {**value, **(override if isinstance(override, dict) else {})}


def shown_name(written: Mapping[str, Any], content: Content) -> str:
    """Return the title or name of a toolset, or "" if it has neither."""
    title = toolset_title(resolved_toolset(written, content))
    return title or str(written.get("template_name") or "")


def about_of(written: Mapping[str, Any]) -> str:
    """Return the origin of a toolset's tools, such as a host, or "" if the toolset's kind implies
    it.
    """
    if isinstance(written.get("tools"), list):
        base_url = written.get("base_url")
        return host_and_port(base_url) if isinstance(base_url, str) else ""
    try:
        return _toolset.validate_python(written).origin
    except ValidationError:
        return ""


def toolset_title(toolset: Mapping[str, Any]) -> str:
    return text_of(toolset.get("title")) or toolset_name(toolset)


def toolset_name(toolset: Mapping[str, Any]) -> str:
    return text_of(toolset.get("name"))


def text_of(written: Any) -> str:
    if isinstance(written, dict):
        return localize_text({str(key): str(text) for key, text in written.items()})
    return written if isinstance(written, str) else ""


def tool_names(toolset: Mapping[str, Any], content: Content) -> tuple[str, ...] | None:
    schema = KINDS.get(str(toolset.get("type")))
    if (
        schema is not None
        and issubclass(schema, ToolSetFields)
        and "tools" not in schema.model_fields
    ):
        allowed = list_or_empty(toolset.get("allowed_tools"))
        if allowed or RemoteTools in schema.__mro__:
            return tuple(map(str, allowed)) or None
        return fixed_names(schema, toolset)
    return tuple(tool_name(tool, content) for tool in list_or_empty(toolset.get("tools")))


def fixed_names(schema: type[ToolSetFields], toolset: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the tools that this kind of toolset always has, without a prefix."""
    try:
        names = [name for name, _ in schema.model_validate(toolset).visible_tools()]
    except ValidationError:
        return ()
    prefix = sanitize(f"{toolset_name(toolset)}_") if schema.kind.is_prefixed else ""
    return tuple(name.removeprefix(prefix) for name in names)


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
    """Return True if `tool`, a name as models see it, belongs to the toolset."""
    if names is None:
        return bool(name) and tool.startswith(sanitize(f"{name}_"))
    if kind in KINDS and KINDS[kind].kind.is_prefixed:
        return any(tool in possible_names(name, one) for one in names)
    return any(tool == sanitize(one) for one in names)
