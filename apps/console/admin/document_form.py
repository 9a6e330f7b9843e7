"""Forms of rows with a document: what is saved names secrets for the credentials that were typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from django.http import HttpRequest

from apps.catalog.extraction import extract, refusals
from apps.console.admin.recorded import RecordedAdmin
from apps.console.admin.versioned_form import VersionedForm
from apps.workspace.local.models import Secret
from apps.workspace.versions import Versioned

Row = TypeVar("Row", bound=Versioned)


class DocumentForm(VersionedForm[Row]):
    """Saving makes the secrets, in the transaction of the caller.

    `document_field` has `documents`: those that have what is hidden in the one that is typed.
    """

    document_field: ClassVar[str]
    saver: Any = None
    """The account that saves."""
    made: Sequence[Secret] = ()

    @property
    def document(self) -> Any:
        return getattr(self.instance, self.document_field)

    @document.setter
    def document(self, document: Any) -> None:
        setattr(self.instance, self.document_field, document)

    @property
    def item(self) -> str:
        """The name of a predefined item, which its document has not."""
        return ""

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        self.check_document()

    def check_document(self) -> None:
        if self.errors or self.document_field not in self.fields:
            return
        for refused in refusals(self.document, self.saver, item=self.item):
            self.add_error(self.document_field, f"{refused.path}: {refused.message}")

    def save(self, commit: bool = True) -> Row:
        if self.document_field in self.fields:
            field: Any = self.fields[self.document_field]
            typed = self.document
            found = extract(typed, field.documents, user=self.saver, item=self.item)
            if found.document is not typed:
                self.document, self.made = found.document, found.made
        row: Row = super().save(commit)
        return row


class DocumentAdmin(RecordedAdmin[Row]):
    """For rows with a document; the `form` is a `DocumentForm`."""

    def get_form(
        self, request: HttpRequest, obj: Row | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"saver": request.user})

    def save_model(self, request: HttpRequest, obj: Row, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for secret in form.made:
            servers = ", ".join(secret.servers)
            said = f"A credential is kept as the secret {secret.name!r} now, for {servers}."
            self.message_user(request, said)
