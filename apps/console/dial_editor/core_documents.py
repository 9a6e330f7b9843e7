"""Applications that DIAL Core stores, edited with the key in DIAL_EDITOR_API_KEY.

A save replaces the whole document, on condition that nobody else changed it since it was read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.conf import settings

from apps.accounts.caller import Caller
from apps.catalog.json_text import parse
from apps.catalog.review import review_text
from apps.console.admin.application_form import ManifestEditor, ManifestField, refusal
from apps.console.dial_editor.edits import CONFLICT, Edit, Refused, Saved
from apps.errors import ServiceFailed
from apps.manifest.names import localized
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import configured_core, encoded
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.file_infos import plain_etag
from apps.workspace.dial.kept_applications import forget_application
from apps.workspace.dial.wire import decoded, mapping

KIND = "applications/"
NOT_FOUND = frozenset({400, 403, 404})
GENERAL = {
    "name": "display_name",
    "description": "description",
    "iconUrl": "icon_url",
    "topics": "description_keywords",
    "display_version": "display_version",
}
"""Core's names of the fields that the chat edits itself."""
COMPUTED = frozenset({"invalid"})
"""Fields that Core adds to its answers; they are not sent back."""


@dataclass(frozen=True, slots=True)
class CoreDocument:
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
        """Core's, or the smallest valid one for a new application."""
        deployment = {"deployment_id": settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID}
        empty = {"orchestrator": {"deployment": deployment}, "contexts": [], "tool_sets": []}
        return self.read("application_properties") or empty

    def read(self, name: str) -> Any:
        return self.fields.get(self.spelled(name))

    def spelled(self, name: str) -> str:
        """The key as this document has it: Core takes `icon_url` and `iconUrl`."""
        first, *rest = name.split("_")
        camel = first + "".join(part.title() for part in rest)
        return camel if camel in self.fields else name


class CoreManifestEditor(ManifestEditor):
    check = "dial-editor-check"


class CoreManifestField(ManifestField):
    def prepare_value(self, value: Any) -> str:
        # Nothing is masked: a mask that comes back could not be told from a text of Core's.
        return json.dumps(value, indent=2, ensure_ascii=False)


class ManifestForm(forms.Form):
    manifest = CoreManifestField(widget=CoreManifestEditor)
    seen_version = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, document: CoreDocument) -> None:
        super().__init__(initial={"manifest": document.manifest, "seen_version": document.etag})
        editor: Any = self.fields["manifest"].widget
        editor.findings = review_text(str(self["manifest"].value()), is_ours=False)


def editor_calls() -> Calls:
    """Raises `Refused` where the settings lack Core's address or the key for it."""
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
    """Raises `Refused`."""
    try:
        return f"/v1/{encoded(name)}"
    except ValueError:
        raise Refused("The address names no application.") from None


async def load(calls: Calls, name: str) -> CoreDocument:
    """Raises `Refused`."""
    try:
        answer = await calls.get(path_of(name))
        fields = mapping(decoded(answer.body))
    except ServiceFailed as failure:
        raise load_refusal(failure) from failure
    document = CoreDocument(fields, plain_etag(answer.headers.get("etag", "")))
    if document.read("application_type_schema_id") != settings.APP_SCHEMA_ID:
        raise Refused("This application is of another type, which has an editor of its own.")
    if not document.etag:
        raise Refused("DIAL Core told no version of the application, so it cannot be saved safely.")
    return document


async def save(calls: Calls, name: str, edit: Edit) -> Saved:
    """Raises `Refused`. The manifest is not reviewed here; see `check`."""
    stored = await load(calls, name)
    if stored.etag != edit.version:
        raise Refused(CONFLICT, stored.etag)
    changed = edited(stored, edit)
    if changed == stored.fields:
        return Saved(stored.etag, has_changes=False)
    body = {key: value for key, value in changed.items() if key not in COMPUTED}
    condition = {"If-Match": stored.etag}
    try:
        answer = await calls.send("PUT", path_of(name), headers=condition, json=body)
    except CoreRefused as failure:
        if failure.status != 412:
            raise save_refusal(failure) from failure
        raise Refused(CONFLICT, (await load(calls, name)).etag) from failure
    except ServiceFailed as failure:
        raise Refused(
            f"{failure} Whether the application was saved is not known; try again."
        ) from failure
    finally:
        forget_application(calls.core, name)
    etag = plain_etag(answer.headers.get("etag", ""))
    return Saved(etag or (await load(calls, name)).etag, has_changes=True)


def check(edit: Edit) -> None:
    """Raises `Refused` for a manifest with mistakes."""
    findings = review_text(edit.text, is_ours=False)
    if count := sum(finding.severity == "error" for finding in findings):
        raise Refused(refusal(count))


def edited(stored: CoreDocument, edit: Edit) -> dict[str, Any]:
    fields = {**stored.fields, stored.spelled("application_properties"): parse(edit.text)}
    for name, own in GENERAL.items():
        if edit.general.get(name) is None:
            continue
        key = stored.spelled(own)
        fields[key] = in_language(fields.get(key), edit.general[name], edit.general)
    return fields


def in_language(before: Any, value: Any, general: Mapping[str, Any]) -> Any:
    """Of a text in several languages, change the one that the chat edits."""
    if not isinstance(before, Mapping) or not isinstance(value, str):
        return value
    language = general.get("primaryLocale")
    return {**before, language if isinstance(language, str) and language else "en": value}


def load_refusal(failure: ServiceFailed) -> Refused:
    if failure.status in NOT_FOUND:
        return Refused("DIAL Core has no such application that the editor's key may read.")
    if failure.status == 401:
        return Refused("DIAL Core does not know the key in DIAL_EDITOR_API_KEY.")
    return Refused(f"The application cannot be read. {failure}")


def save_refusal(failure: CoreRefused) -> Refused:
    if failure.status == 403:
        return Refused("The key in DIAL_EDITOR_API_KEY may not change this application.")
    said = failure.details or f"status {failure.status}"
    return Refused(f"DIAL Core did not save the application: {said}")
