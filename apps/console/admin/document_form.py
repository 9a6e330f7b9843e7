"""Forms of rows with a document, which replace typed credentials by names of secrets."""

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

    The field `document_field` has `documents` with the credentials that the typed one masks.
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
        """The name of a predefined item, which is no part of its document; "" for applications."""
        return ""

    @property
    def saves_document(self) -> bool:
        return self.document_field in self.fields

    def _post_clean(self) -> None:
        super()._post_clean()
        self.check_document()

    def check_document(self) -> None:
        if self.errors or not self.saves_document:
            return
        for refused in refusals(self.document, self.saver, item=self.item):
            self.add_error(self.document_field, f"{refused.path}: {refused.message}")

    def save(self, commit: bool = True) -> Row:
        if self.saves_document:
            field: Any = self.fields[self.document_field]
            typed = self.document
            found = extract(typed, field.documents, user=self.saver, item=self.item)
            if found.document is not typed:
                self.document, self.made = found.document, found.made
        row: Row = super().save(commit)
        return row


class DocumentAdmin(RecordedAdmin[Row]):
    """For rows with a document; the `form` is a `DocumentForm`."""

    def form_attributes(self, request: HttpRequest, obj: Row | None) -> dict[str, Any]:
        return {**super().form_attributes(request, obj), "saver": request.user}

    def save_model(self, request: HttpRequest, obj: Row, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        self.tell_secrets(request, form)

    def tell_secrets(self, request: HttpRequest, form: Any) -> None:
        for secret in form.made:
            servers = ", ".join(secret.servers)
            said = f"A credential is kept as the secret {secret.name!r} now, for {servers}."
            self.message_user(request, said)
