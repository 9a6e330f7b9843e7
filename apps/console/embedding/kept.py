"""Applications whose documents DIAL Core keeps, edited with the key that the operator set for it.

The whole document goes back, and only if it is still the one that was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.accounts.caller import Caller
from apps.catalog.json_text import parse
from apps.catalog.review import review_text
from apps.console.admin.application_form import refusal
from apps.console.embedding.edits import CONFLICT, Edit, Refused, Saved
from apps.errors import ServiceFailed
from apps.manifest.names import localized
from apps.workspace.dial.calls import Calls, decoded, mapping
from apps.workspace.dial.core import configured_core, encoded
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.kept_applications import forget_application
from apps.workspace.dial.resources import plain_etag

KIND = "applications/"
UNKNOWN = frozenset({400, 403, 404})
GENERAL = {
    "name": "display_name",
    "description": "description",
    "iconUrl": "icon_url",
    "topics": "description_keywords",
    "display_version": "display_version",
}
"""What the chat edits itself, by the names that Core has for it."""
COMPUTED = frozenset({"invalid"})
"""What Core tells of a document beside it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A document of Core, of the version `etag`."""

    fields: Mapping[str, Any] = field(repr=False)
    etag: str

    @property
    def title(self) -> str:
        title = self.read("display_name")
        if isinstance(title, Mapping):
            return localized({str(key): str(text) for key, text in title.items()}, "en")
        return title if isinstance(title, str) else ""

    @property
    def manifest(self) -> Any:
        """A new application has none; it begins with the smallest."""
        deployment = {"deployment_id": settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID}
        empty = {"orchestrator": {"deployment": deployment}, "contexts": [], "tool_sets": []}
        return self.read("application_properties") or empty

    def read(self, name: str) -> Any:
        return self.fields.get(self.spelled(name))

    def spelled(self, name: str) -> str:
        """As the document spells it: Core takes `icon_url` and `iconUrl`."""
        first, *rest = name.split("_")
        camel = first + "".join(part.title() for part in rest)
        return camel if camel in self.fields else name


def editor_calls() -> Calls:
    """Raises `Refused` where the settings have no Core, or no key for it."""
    core = configured_core()
    if core is None:
        raise Refused("This installation knows no DIAL Core. An administrator sets DIAL_URL.")
    if not settings.DIAL_EDITOR_API_KEY:
        raise Refused(
            "DIAL Core keeps this application, and the editor has no key to read and save it. "
            "An administrator sets DIAL_EDITOR_API_KEY."
        )
    return Calls(core, Caller("", "dial", api_key=settings.DIAL_EDITOR_API_KEY))


def path_of(name: str) -> str:
    """Raises `Refused` for what names no application of Core."""
    try:
        return f"/v1/{encoded(name)}"
    except ValueError:
        raise Refused("The address names no application.") from None


async def load_kept(calls: Calls, name: str) -> Kept:
    """Raises `Refused`."""
    try:
        answer = await calls.get(path_of(name))
        fields = mapping(decoded(answer.body))
    except ServiceFailed as failure:
        raise unread(failure) from failure
    kept = Kept(fields, plain_etag(answer.headers.get("etag", "")))
    if kept.read("application_type_schema_id") != settings.APP_SCHEMA_ID:
        raise Refused("This application is of another type, which has an editor of its own.")
    if not kept.etag:
        raise Refused("DIAL Core told no version of the application, so it cannot be saved safely.")
    return kept


async def save_kept(calls: Calls, name: str, edit: Edit) -> Saved:
    """`edit` has been reviewed. Raises `Refused`."""
    kept = await load_kept(calls, name)
    if kept.etag != edit.version:
        raise Refused(CONFLICT, kept.etag)
    changed = edited(kept, edit)
    if changed == kept.fields:
        return Saved(kept.etag, has_changes=False)
    document = {key: value for key, value in changed.items() if key not in COMPUTED}
    condition = {"If-Match": kept.etag}
    try:
        answer = await calls.send("PUT", path_of(name), headers=condition, json=document)
    except CoreRefused as failure:
        if failure.status != 412:
            raise unsaved(failure) from failure
        raise Refused(CONFLICT, (await load_kept(calls, name)).etag) from failure
    except ServiceFailed as failure:
        raise Refused(
            f"{failure} Whether the application was saved is not known; try again."
        ) from failure
    finally:
        forget_application(calls.core, name)
    etag = plain_etag(answer.headers.get("etag", ""))
    return Saved(etag or (await load_kept(calls, name)).etag, has_changes=True)


def check(edit: Edit) -> None:
    """Raises `Refused` for a manifest with mistakes."""
    findings = review_text(edit.text, is_ours=False)
    if count := sum(finding.severity == "error" for finding in findings):
        raise Refused(refusal(count))


def edited(kept: Kept, edit: Edit) -> dict[str, Any]:
    fields = {**kept.fields, kept.spelled("application_properties"): parse(edit.text)}
    for name, own in GENERAL.items():
        if edit.general.get(name) is None:
            continue
        key = kept.spelled(own)
        fields[key] = in_language(fields.get(key), edit.general[name], edit.general)
    return fields


def in_language(before: Any, value: Any, general: Mapping[str, Any]) -> Any:
    """A text that stands in several languages is changed in one of them."""
    if not isinstance(before, Mapping) or not isinstance(value, str):
        return value
    language = general.get("primaryLocale")
    return {**before, language if isinstance(language, str) and language else "en": value}


def unread(failure: ServiceFailed) -> Refused:
    if failure.status in UNKNOWN:
        return Refused("DIAL Core has no such application that the editor's key may read.")
    if failure.status == 401:
        return Refused("DIAL Core does not know the key in DIAL_EDITOR_API_KEY.")
    return Refused(f"The application cannot be read. {failure}")


def unsaved(failure: CoreRefused) -> Refused:
    if failure.status == 403:
        return Refused("The key in DIAL_EDITOR_API_KEY may not change this application.")
    said = failure.details or f"status {failure.status}"
    return Refused(f"DIAL Core did not save the application: {said}")
