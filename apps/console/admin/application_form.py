"""The form of an application, with the editor of its manifest.

The editor is a text area that works without JavaScript; the script puts a form and a code editor
over it. A typed text is shown again as it was typed, also if it is no JSON; a stored manifest is
shown with its plain credentials masked.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from django.utils.crypto import salted_hmac

from apps.catalog.icons.images import LARGEST_IMAGE, keep_image
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import masked, put_back
from apps.catalog.models import Application, ApplicationDraft, empty_manifest
from apps.catalog.review import Finding, review_text
from apps.catalog.versions.drafts import WRITTEN
from apps.catalog.versions.publishing_requests import AT_ONCE, SecondPublisherRequired, is_required
from apps.console.admin.document_form import DocumentForm
from apps.console.admin.theme import TEXT_INPUT
from apps.console.operated import PUBLISH
from apps.manifest.aliases import with_own_names

DIGEST_LENGTH = 32
SAVE_DRAFT = "_save_draft"
"""The button that saves a draft."""


class SeenField(forms.IntegerField):
    """A number that the form carries along, which nobody edits."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class SeenTextField(forms.CharField):
    """A text that the form carries along, which nobody edits."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class ManifestEditor(forms.Textarea):
    """`findings` are shown below the text; `refused` scrolls to them.

    `check` names the address that reviews a typed text; `row` is the number of the application
    whose credentials are masked in it.
    """

    template_name = "admin/catalog/application/manifest_editor.html"
    findings: Sequence[Finding] = ()
    refused = False
    check = "admin:catalog_application_check"
    row: int | None = None

    class Media:
        css = {"all": ("console/manifest-editor.css",)}
        js = (forms.Script("console/manifest-editor.js", type="module"),)

    def __init__(self) -> None:
        super().__init__({"rows": 24, "spellcheck": "false", "autocapitalize": "off"})
        self.attrs["class"] = f"manifest-editor-text {TEXT_INPUT}"

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        names = ("findings", "refused", "check", "row")
        return context | {key: getattr(self, key) for key in names}


class ManifestField(forms.JSONField):
    """`documents` have the credentials that are masked in the typed one."""

    widget = ManifestEditor
    documents: Sequence[Any] = ()

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        try:
            document = parse(value)
        except JSONTextInvalid as error:
            raise ValidationError(str(error), code="invalid") from error
        found = put_back(document, self.documents)
        if found.problems:
            lines = [f"{problem.path}: {problem.message}." for problem in found.problems]
            raise ValidationError(lines, code="invalid")
        return with_own_names(found.document)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(masked(value), indent=2, ensure_ascii=False)


class ApplicationForm(DocumentForm[Application]):
    """Saves the row, and what a version has of it only where that was changed in the form.

    With a draft, the form shows it and saves to it. Without one, it publishes what was changed at
    once, or begins a draft with `SAVE_DRAFT`. `seen_draft` is the version of the draft that the form
    began with, 0 for none, and `digests` has hashes of what it showed.
    """

    manifest = ManifestField(initial=empty_manifest)
    picture = forms.FileField(
        required=False,
        label="Icon from a picture",
        help_text="SVG, PNG or WebP, at most 64 kB. It takes the place of what stands above.",
    )
    seen_draft = SeenField(required=False, widget=forms.HiddenInput)
    digests = SeenTextField(required=False, widget=forms.HiddenInput)
    document_field = "manifest"
    copied: Application | None = None
    is_of_live: ClassVar[bool] = False
    """The form shows and saves what is live, also if there is a draft."""

    class Meta:
        model = Application
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        draft = stored_draft(self.copied or self.instance)
        self.find_masked_documents(draft)
        if "seen_draft" in self.fields and not self.is_of_live:
            self.fields["seen_draft"].initial = 0 if self.copied else draft.version
        is_shown = self.shows_draft if self.is_bound else not self.is_of_live
        shown = draft if draft.pk and is_shown else self.instance
        self.shown = {name: getattr(shown, name) for name in WRITTEN if name in self.fields}
        if not self.is_bound and self.instance.pk:
            self.show_findings()
            digests = {name: self.digest_of_shown(name) for name in self.shown}
            self.fields["digests"].initial = json.dumps(digests)

    @property
    def is_draft(self) -> bool:
        """Whether a draft is to be saved."""
        return self.is_bound and (SAVE_DRAFT in self.data or self.shows_draft)

    @property
    def shows_draft(self) -> bool:
        """Return whether the form that was sent began with a draft."""
        sent = self["seen_draft"].data if "seen_draft" in self.fields else None
        return str(sent or 0) != "0"

    @property
    def changed_data(self) -> list[str]:
        """Of what a version has, the fields that differ from what the form showed."""
        changed = super().changed_data
        if self.instance._state.adding:
            return changed
        return [
            name
            for name in self.fields
            if (not self.is_as_shown(name) if name in self.shown else name in changed)
        ]

    def is_as_shown(self, name: str) -> bool:
        """Return whether a field came back as a browser sends it: trimmed, and with its own line ends."""
        if name == "icon" and self["picture"].data:
            return False
        try:
            sent = self.digest(name, self[name].data)
        except ValidationError:
            return bool(self[name].data == self.fields[name].prepare_value(self.shown[name]))
        return sent == (self.sent_digests().get(name) or self.digest_of_shown(name))

    def digest(self, name: str, value: Any) -> str:
        """A hash of what a field makes of a value. Raises `ValidationError`."""
        cleaned = self.fields[name].clean(with_plain_lines(value))
        text = json.dumps(cleaned, sort_keys=True)
        return salted_hmac("application-form", text).hexdigest()[:DIGEST_LENGTH]

    def digest_of_shown(self, name: str) -> str:
        """ "" for a value that the form would refuse."""
        try:
            return self.digest(name, self.fields[name].prepare_value(self.shown[name]))
        except ValidationError:
            return ""

    def sent_digests(self) -> Mapping[str, Any]:
        """Of the draft as the form showed it; others may have saved it since."""
        sent = self["digests"].data if self.shows_draft else None
        try:
            found = parse(sent or "{}")
        except JSONTextInvalid:
            return {}
        return found if isinstance(found, dict) else {}

    def find_masked_documents(self, draft: ApplicationDraft) -> None:
        field: Any = self.fields.get("manifest")
        original = self.copied or self.instance
        if isinstance(field, ManifestField) and original.pk:
            field.documents = [original.manifest, draft.manifest]
            field.widget.row = original.pk

    def clean_description(self) -> Any:
        return with_plain_lines(self.cleaned_data["description"])

    def clean_picture(self) -> Any:
        sent = self.cleaned_data.get("picture")
        if sent:
            # Before the row is checked, which takes the icon from here.
            self.cleaned_data["icon"] = keep_image(sent.read(LARGEST_IMAGE + 1))
        return sent

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        written = {*WRITTEN, "picture"} & {*self.changed_data}
        self.leave_out({*self.shown} - written)
        seen, stored = self.cleaned_data.get("seen_draft"), stored_draft(self.instance).version
        if written and seen is not None and seen != stored:
            self.change_data(seen_draft=stored)
            raise ValidationError(
                "Somebody saved a draft of this application, or published it, while you were "
                "editing it. Nothing was saved now, and what you typed stands here; saving again "
                "puts it in the place of theirs."
            )
        is_published = not self.is_draft and written
        if is_published and self.saver is not None and not self.saver.has_perm(PUBLISH):
            raise ValidationError(
                "Your account may not publish. Save it as a draft, and ask somebody who may."
            )
        becomes = self.cleaned_data.get("needs_second_publisher", False)
        if is_published and (becomes or is_required(self.instance)):
            raise SecondPublisherRequired(AT_ONCE)
        return cleaned

    def leave_out(self, names: Collection[str]) -> None:
        """Let the row keep what was not changed, whatever would be wrong with it."""
        if self.instance._state.adding:
            return
        for name in names:
            self.cleaned_data.pop(name, None)
            self.errors.pop(name, None)

    @property
    def saves_document(self) -> bool:
        """Return whether the form saves the manifest, so that its plain credentials become secrets."""
        if self.instance._state.adding or not super().saves_document:
            return super().saves_document
        changed = {*self.cleaned_data}.intersection(WRITTEN)
        return "manifest" in changed or bool(changed and not self.is_draft)

    def _get_validation_exclusions(self) -> set[str]:
        known: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return known | ({*self.shown} - {*self.cleaned_data})

    def full_clean(self) -> None:
        super().full_clean()
        # The findings replace the errors of the field: they have a place in the text.
        if self.is_bound and "manifest" in self.errors:
            self.show_findings()

    def show_findings(self) -> None:
        field: Any = self.fields.get("manifest")
        if not isinstance(field, ManifestField):
            return
        editor: ManifestEditor = cast(Any, field).widget
        editor.findings = review_text(str(self["manifest"].value()), sources=field.documents)
        count = sum(finding.severity == "error" for finding in editor.findings)
        if self.is_bound and count:
            editor.refused = True
            self.errors["manifest"] = self.error_class([refusal(count)], renderer=self.renderer)


def stored_draft(row: Application) -> ApplicationDraft:
    """The draft of a row; an empty one of version 0 where there is none."""
    found = ApplicationDraft.objects.filter(application=row.pk).first() if row.pk else None
    return found or ApplicationDraft()


def with_plain_lines(value: Any) -> Any:
    """A text without the carriage returns that browsers add; any other value as it is."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def refusal(count: int) -> str:
    mistakes = "1 mistake" if count == 1 else f"{count} mistakes"
    return f"The manifest has {mistakes}, listed with it. Nothing was saved."
