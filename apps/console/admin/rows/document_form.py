"""Defines the form of a row with a JSON document. Saving replaces the credentials that a user typed
with secrets.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from apps.catalog.extraction import extract, forbidden_credentials
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.workspace.local.models import Secret
from apps.workspace.versions import Versioned

Row = TypeVar("Row", bound=Versioned)


class DocumentForm(VersionedForm[Row]):
    """A form of a row with a JSON document. Saving creates secrets for its credentials in the
    caller's transaction.

    Credentials in the `documents` of the field `document_field` replace the masks in the typed
    document.
    """

    document_field: ClassVar[str]
    saver: Any = None
    """This user saves the row."""
    made: Sequence[Secret] = ()

    @property
    def document(self) -> Any:
        return getattr(self.instance, self.document_field)

    @document.setter
    def document(self, document: Any) -> None:
        setattr(self.instance, self.document_field, document)

    @property
    def item(self) -> str:
        """Return the name of the predefined item that is edited, or "" for an application."""
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
