"""Reads the templates for new applications in `template/<name>/` in the predefined content.

A template is a folder with the files of an application. It may also contain an OpenAPI document,
whose operations become tools, and a folder `files/` with files for the application.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.catalog.application_files.folders import FilesRefused, read_folder
from apps.catalog.application_files.reader import read_application
from apps.catalog.application_files.row_files import ContentFile, ContentInvalid
from apps.catalog.content.installed import directories
from apps.manifest.toolsets.kinds import KINDS

logger = logging.getLogger(__name__)

FOLDER = "template"
FILES = "files/"
OPENAPI = "openapi.json"
PREDEFINED: Mapping[str, str] = {
    "duckduckgo": "Web search",
    "web_search": "Web search",
    "pictures": "Images",
    "py_interpreter": "Python",
    "py_interpreter_mcp": "MCP server",
    "git": "MCP server",
}
FEATURES: Mapping[str, str] = {
    "documents": "Documents",
    "spawn_agent": "Sub-agents",
    "subagents": "Sub-agents",
    "todo": "To-do list",
    "memory": "Memory",
    "notes": "Notes",
    "schedules": "Schedules",
    "web_fetch": "Web pages",
}
OTHER_TOOLS = "Tools"


@dataclass(frozen=True, slots=True)
class Template:
    """A template for new applications. `files` maps paths to the files that are not part of the
    application: the OpenAPI document and `files/`.
    """

    item: ContentFile
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.item.key

    @property
    def title(self) -> str:
        return str(self.item.fields["title"])

    @property
    def description(self) -> str:
        return str(self.item.fields["description"])

    @property
    def icon(self) -> bytes | None:
        return self.item.parts.icon if self.item.parts is not None else None

    @property
    def uses(self) -> list[str]:
        return list(dict.fromkeys(uses_of(self.item.fields["manifest"])))


def templates() -> list[Template]:
    """Return the installation's templates, sorted by title. Templates that cannot be read are
    logged and omitted.
    """
    read = map(read_template, folders().values())
    return sorted((one for one in read if one is not None), key=lambda one: one.title)


def template_named(name: str) -> Template | None:
    path = folders().get(name)
    return None if path is None else read_template(path)


def folders() -> dict[str, Path]:
    """Return the folder of each template, by name. A later directory overrides an earlier one."""
    return {path.name: path for layer in directories() for path in folders_of(layer)}


def folders_of(layer: Path) -> list[Path]:
    return sorted(path for path in (layer / FOLDER).glob("[!.]*/") if path.is_dir())


def read_template(path: Path) -> Template | None:
    try:
        found = read_folder(path, path.parents[1])
        files = {name: content for name, content in found.items() if is_extra(name)}
        item = read_application(path.name, {n: c for n, c in found.items() if n not in files})
    except (ContentInvalid, FilesRefused, OSError) as error:
        logger.warning("Skipped the template %s: %s", path, error)
        return None
    return Template(item, files)


def is_extra(name: str) -> bool:
    return name == OPENAPI or name.startswith(FILES)


def uses_of(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield a label such as "Web search" for each toolset and enabled feature in a manifest. Labels
    may repeat.
    """
    yield from map(use_of_toolset, objects(manifest.get("tool_sets")))
    features = manifest.get("features")
    for name, feature in (features if isinstance(features, dict) else {}).items():
        if name in FEATURES and isinstance(feature, dict) and feature.get("enabled"):
            yield FEATURES[name]


def use_of_toolset(toolset: Mapping[str, Any]) -> str:
    if toolset.get("tools") == OPENAPI:
        return "OpenAPI"
    if toolset.get("type") == "predefined":
        return PREDEFINED.get(str(toolset.get("template_name")), OTHER_TOOLS)
    schema = KINDS.get(str(toolset.get("type")))
    return OTHER_TOOLS if schema is None else schema.kind.title


def objects(values: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
