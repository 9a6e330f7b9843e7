"""Loads and saves applications that DIAL Core stores, with the key in `DIAL_EDITOR_API_KEY`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.conf import settings

from apps.accounts.caller import Caller, Credentials
from apps.catalog.review.manifests import review_text
from apps.console.dial_editor.edits import CONFLICT, Edit, EditRefused, EditSaved
from apps.console.manifest_editor.manifest_field import ManifestEditor, ManifestField, count_message
from apps.environment_variables import current_setting
from apps.errors import ServiceFailed
from apps.manifest.json_text import parse_json
from apps.manifest.names import localize_text
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import configured_core, encode_path
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.file_infos import plain_etag
from apps.workspace.dial.kept_applications import forget_application
from apps.workspace.dial.wire import decode_body, mapping

KIND = "applications/"
NOT_FOUND = frozenset({400, 403, 404})
GENERAL = {
    "name": "display_name",
    "description": "description",
    "iconUrl": "icon_url",
    "topics": "description_keywords",
    "display_version": "display_version",
}
"""The fields that users edit in DIAL's chat, outside the frame, and their names in DIAL Core."""
COMPUTED = frozenset({"invalid"})
"""The fields that DIAL Core adds to its responses. Requests must not contain them."""


@dataclass(frozen=True, slots=True)
class CoreDocument:
    fields: Mapping[str, Any] = field(repr=False)
    etag: str

    @property
    def title(self) -> str:
        title = self.read("display_name")
        if isinstance(title, Mapping):
            return localize_text({str(key): str(text) for key, text in title.items()}, "en")
        return title if isinstance(title, str) else ""

    @property
    def manifest(self) -> Any:
        """The manifest of the application, or the smallest valid manifest if it has none."""
        deployment = {"deployment_id": settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID}
        empty = {"orchestrator": {"deployment": deployment}, "contexts": [], "tool_sets": []}
        return self.read("application_properties") or empty

    def read(self, name: str) -> Any:
        return self.fields.get(self.spelled(name))

    def spelled(self, name: str) -> str:
        """Return the key in the document's own spelling. DIAL Core accepts `icon_url` and
        `iconUrl`.
        """
        first, *rest = name.split("_")
        camel = first + "".join(part.title() for part in rest)
        return camel if camel in self.fields else name


class CoreManifestEditor(ManifestEditor):
    check = "dial-editor-check"


class CoreManifestField(ManifestField):
    def prepare_value(self, value: Any) -> str:
        # Masks nothing, because a mask that is sent back would be indistinguishable from one of
        # Core's texts.
        return json.dumps(value, indent=2, ensure_ascii=False)


class ManifestForm(forms.Form):
    manifest = CoreManifestField(widget=CoreManifestEditor)
    seen_version = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, document: CoreDocument) -> None:
        super().__init__(initial={"manifest": document.manifest, "seen_version": document.etag})
        editor: Any = self.fields["manifest"].widget
        editor.findings = review_text(str(self["manifest"].value()), is_ours=False)


def editor_calls() -> Calls:
    """Return a client for DIAL Core. Raises `EditRefused` if DIAL Core or its key is not
    configured.
    """
    core = configured_core()
    if core is None:
        raise EditRefused(
            "This installation is not connected to DIAL Core. Ask an administrator to set DIAL_URL."
        )
    if not (key := current_setting("DIAL_EDITOR_API_KEY")):
        raise EditRefused(
            "DIAL Core stores this application, and the editor has no key for it. Ask an "
            "administrator to set DIAL_EDITOR_API_KEY."
        )
    return Calls(core, Caller("", "dial", credentials=Credentials(api_key=key)))


def path_of(name: str) -> str:
    """Return the URL path of an application in DIAL Core. Raises `EditRefused` if the name is
    invalid.
    """
    try:
        return f"/v1/{encode_path(name)}"
    except ValueError:
        raise EditRefused("The URL contains no application.") from None


async def load(calls: Calls, name: str) -> CoreDocument:
    """Load an application from DIAL Core. Raises `EditRefused` if it cannot be loaded or has a type
    that this editor does not support.
    """
    try:
        answer = await calls.get(path_of(name))
        fields = mapping(decode_body(answer.body))
    except ServiceFailed as failure:
        raise load_refusal(failure) from failure
    document = CoreDocument(fields, plain_etag(answer.headers.get("etag", "")))
    if document.read("application_type_schema_id") != settings.APP_SCHEMA_ID:
        raise EditRefused("This application is of a different type, which has its own editor.")
    if not document.etag:
        raise EditRefused(
            "DIAL Core did not return an ETag for the application, so it cannot be saved safely."
        )
    return document


async def save(calls: Calls, name: str, edit: Edit) -> EditSaved:
    """Save the edited application in DIAL Core, without checking its manifest.

    Raises `EditRefused` if the application has changed in the meantime or DIAL Core rejects the
    edit.
    """
    stored = await load(calls, name)
    if stored.etag != edit.version:
        raise EditRefused(CONFLICT, stored.etag)
    changed = apply_edit(stored, edit)
    if changed == stored.fields:
        return EditSaved(stored.etag, has_changes=False)
    body = {key: value for key, value in changed.items() if key not in COMPUTED}
    condition = {"If-Match": stored.etag}
    try:
        answer = await calls.send("PUT", path_of(name), headers=condition, json=body)
    except CoreRefused as failure:
        if failure.status != 412:
            raise save_refusal(failure) from failure
        raise EditRefused(CONFLICT, (await load(calls, name)).etag) from failure
    except ServiceFailed as failure:
        raise EditRefused(
            f"{failure} The application may not have been saved. Try again."
        ) from failure
    finally:
        forget_application(calls.core, name)
    etag = plain_etag(answer.headers.get("etag", ""))
    return EditSaved(etag or (await load(calls, name)).etag, has_changes=True)


def check(edit: Edit) -> None:
    """Raise `EditRefused` if the edited manifest has errors."""
    findings = review_text(edit.text, is_ours=False)
    if count := sum(finding.severity == "error" for finding in findings):
        raise EditRefused(count_message(count))


def apply_edit(stored: CoreDocument, edit: Edit) -> dict[str, Any]:
    fields = {**stored.fields, stored.spelled("application_properties"): parse_json(edit.text)}
    for name, own in GENERAL.items():
        if edit.general.get(name) is None:
            continue
        key = stored.spelled(own)
        fields[key] = in_language(fields.get(key), edit.general[name], edit.general)
    return fields


def in_language(before: Any, value: Any, general: Mapping[str, Any]) -> Any:
    """Return the new text. If the old text has several languages, replace only the language that
    the user edited in the chat.
    """
    if not isinstance(before, Mapping) or not isinstance(value, str):
        return value
    language = general.get("primaryLocale")
    return {**before, language if isinstance(language, str) and language else "en": value}


def load_refusal(failure: ServiceFailed) -> EditRefused:
    if failure.status in NOT_FOUND:
        return EditRefused(
            "The application does not exist in DIAL Core, or the editor's key cannot read it."
        )
    if failure.status == 401:
        return EditRefused("DIAL Core rejected the key in DIAL_EDITOR_API_KEY.")
    return EditRefused(f"The application cannot be loaded. {failure}")


def save_refusal(failure: CoreRefused) -> EditRefused:
    if failure.status == 403:
        return EditRefused("The key in DIAL_EDITOR_API_KEY cannot change this application.")
    said = failure.details or f"status {failure.status}"
    return EditRefused(f"DIAL Core did not save the application: {said}")
