"""Formats the title of a tool call's stage, and the arguments in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise

from apps.accounts.languages import accepted_language
from apps.agent.stages import FENCE
from apps.capabilities.wrappers.value_texts import (
    VALUE_CHARACTERS,
    fence_code,
    one_line,
    opened_fence,
    shorten_text,
    value_text,
)
from apps.manifest.manifest import Manifest
from apps.manifest.names import Localized, localize_text
from apps.manifest.toolsets.parameters import FunctionParameters, ParameterStage
from apps.manifest.toolsets.rest_parameters import RestFunctionParameters
from apps.manifest.toolsets.tools import ToolDisplay, ToolStage

Title = Localized | Promise
"""A tool's title. Built-in tools have titles that gettext translates, and other tools have titles
from the manifest.
"""
Visibility = Literal["never", "failures", "always"]

HEADING = "> #### Request:\n\r"
LEVELS = ("none", "error", "info", "debug")

_placeholder = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Display:
    """The options for showing a tool's calls in stages."""

    name: Title
    """The title, unless `stage` sets one."""
    visibility: Visibility = "always"
    stage: ToolStage | None = None
    parameters: Mapping[str, ParameterStage] = field(default_factory=dict)
    """The display options of parameters, in the order of the manifest."""

    def title(self, arguments: Mapping[str, Any], locale: str) -> str:
        configured = self.stage.name if self.stage is not None and self.stage.show else None
        title = (
            fill_template(configured, arguments)
            if configured
            else translate_title(self.name, locale)
        )
        for name, shown in self.parameters.items():
            if shown.show_value_in_stage_title and arguments.get(name) is not None:
                gap = "" if title[-1:].isspace() else " "
                return f"{title}{gap}{one_line(value_text(arguments[name]))}".rstrip()
        return title

    def request(self, arguments: Mapping[str, Any]) -> str:
        """Return the text that shows the arguments in the stage."""
        if self.stage is not None and self.stage.body:
            return f"{fill_template(self.stage.body, arguments)}\n\n"
        return HEADING + self.entries(arguments)

    def beginning(self, locale: str) -> str:
        """Return the part of the title that does not depend on arguments."""
        configured = self.stage.name if self.stage is not None and self.stage.show else None
        if not configured:
            return translate_title(self.name, locale)
        first = _placeholder.search(configured)
        return configured[: first.start()] if first is not None else configured

    def lead(self, name: str) -> str:
        """Return the text that precedes an argument in the stage while the model is writing the
        argument. Return "" if the stage does not show the argument this early.
        """
        shown = self.shown_as(name)
        is_itself = not shown.ignore and shown.replaced_value_info is None
        is_plain = is_itself and shown.format is not None
        if not is_plain or (self.stage is not None and self.stage.body):
            return ""
        return f"{HEADING}{label(name, shown)}\n{opened_fence(FENCE, shown.format or '')}"

    def entries(self, arguments: Mapping[str, Any], without: str = "") -> str:
        ordered = sorted(arguments.items(), key=lambda item: self.shown_as(item[0]).order)
        return "".join(self.entry(name, value) for name, value in ordered if name != without)

    def shown_as(self, name: str) -> ParameterStage:
        return self.parameters.get(name, PLAIN)

    def entry(self, name: str, value: Any) -> str:
        shown = self.shown_as(name)
        if shown.ignore:
            return ""
        text = shown.replaced_value_info
        if text is None:
            text = shorten_text(value_text(value), VALUE_CHARACTERS)
        if shown.format is not None:
            text = f"\n{fence_code(text, shown.format)}\n"
        return f"{label(name, shown)}{text}{shown.suffix or ''}\n\r"


def label(name: str, shown: ParameterStage) -> str:
    label = shown.name or ("" if shown.ignore_parameter_name else f"***{name}:*** ")
    return f"{label}{shown.prefix or ''}"


PLAIN = ParameterStage()


def translate_title(title: Title, locale: str) -> str:
    if not isinstance(title, Promise):
        return localize_text(title, locale)
    with translation.override(accepted_language(locale)):
        return str(title)


def tool_title(toolset: Localized, tool: str, otherwise: str) -> Localized:
    """Return the title of a tool, prefixed with its toolset's name. If the toolset has no name,
    return `otherwise`.
    """
    if not localize_text(toolset):
        return otherwise
    if isinstance(toolset, str):
        return f"{toolset} · {tool}"
    return {locale: f"{name} · {tool}" if name else tool for locale, name in toolset.items()}


def display_of(
    manifest: Manifest,
    name: Title,
    *,
    tool: ToolDisplay | None = None,
    parameters: FunctionParameters | RestFunctionParameters | None = None,
    system: bool = False,
) -> Display:
    """Return a tool's display options. A `system` tool has a stage only at the level `debug`."""
    stage = tool.stage if tool is not None else None
    configured = {
        key: parameter.display.stage
        for key, parameter in (parameters.properties.items() if parameters is not None else ())
        if parameter.display is not None and parameter.display.stage is not None
    }
    return Display(name, visibility(stage_level(manifest), stage, system), stage, configured)


def stage_level(manifest: Manifest) -> str:
    """Return the level of detail of stages. The installation's setting overrides the
    application's.
    """
    if settings.DEFAULT_STAGE_DISPLAY_LEVEL:
        return str(settings.DEFAULT_STAGE_DISPLAY_LEVEL)
    return manifest.features.stage_display.level if manifest.features is not None else "info"


def visibility(level: str, stage: ToolStage | None, system: bool) -> Visibility:
    if level == "none":
        return "never"
    needed = "debug" if system else "info"
    if LEVELS.index(level) < LEVELS.index(needed) or (stage is not None and not stage.show):
        return "failures"
    return "always"


def fill_template(template: str, arguments: Mapping[str, Any]) -> str:
    """Replace each `{argument}` in the template with its value, or with "" if it is missing."""
    return _placeholder.sub(
        lambda match: shorten_text(value_text(arguments.get(match[1])), VALUE_CHARACTERS), template
    )
