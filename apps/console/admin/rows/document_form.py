"""Defines the base class for forms for rows with a JSON document."""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from apps.catalog.extraction import extract, forbidden_credentials
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.workspace.local.models import Secret
from apps.workspace.versions import VersionedRow

Row = TypeVar("Row", bound=VersionedRow)


class DocumentForm(VersionedForm[Row]):
    """A form for a row with a JSON document, in the form field `document_field`.

    Saving stores the credentials in the document as secrets, in the caller's transaction. Masks in
    the document are replaced with the credentials in the field's `documents`.
    """

    document_field: ClassVar[str]
    saver: Any = None
    """The user who saves the row."""
    made: Sequence[Secret] = ()
    """The secrets that saving the form has created."""

    @property
    def document(self) -> Any:
        return getattr(self.instance, self.document_field)

    @document.setter
    def document(self, document: Any) -> None:
        setattr(self.instance, self.document_field, document)

    @property
    def item(self) -> str:
        """The name of the edited predefined item, or "" for an application."""
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
        for refused in forbidden_credentials(self.document, self.saver, item=self.item):
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
