"""Defines the tool that reads web pages, for applications that may fetch external URLs."""

from django.conf import settings
from django.utils.translation import gettext_lazy

from apps.capabilities.registry import Capability, Open
from apps.capabilities.web.fetch import SAVE_PATH, URL, Fetch
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    field_or_setting,
    internal_tool,
    open_with,
    parameters,
    text_parameter,
)
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.workspace.egress.fetch_policy import BARRIERS
from apps.workspace.loading.shared_loads import rules_of

TOOL_NAME = "internal_web_fetch"
DESCRIPTION = (
    "Fetches a page or a file from the Web by its URL. Returns text at once, pages as Markdown. "
    "With save_path, it saves a file of any type in your own folder instead."
)
GRACE_SECONDS = 1.0
"""The tool's timeout exceeds the file loader's by this many seconds, because the loader's error
message is more helpful.
"""
PARAMETERS = parameters(
    {
        URL: text_parameter("The http(s) URL."),
        SAVE_PATH: text_parameter(
            "The path to save it at, relative to your own folder, such as pages/report.pdf. An "
            "existing file is not replaced."
        ),
    },
    URL,
)


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.web_fetch if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    if barrier := rules_of(manifest).policy.find_disabling_setting():
        raise InitializationIssue(
            f"features.web_fetch: the tool '{TOOL_NAME}' is left out. {BARRIERS[barrier]}"
        )
    size = settings.TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD
    most_bytes = int(field_or_setting(wanted, "max_inline_size", size))

    return open_with(
        internal_tool(
            manifest,
            PlatformTool(
                TOOL_NAME,
                DESCRIPTION,
                PARAMETERS,
                gettext_lazy("Fetch from the Web"),
                "read-only",
                addresses=frozenset({URL, SAVE_PATH}),
            ),
            lambda opening, invocation: Fetch(opening, most_bytes).answer(invocation),
            seconds=rules_of(manifest).seconds + GRACE_SECONDS,
        )
    )


web = Capability("web", frozenset({"features.web_fetch"}), prepare)
