"""The grants of an application, on its page: only its owners may change them."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.catalog.models import Application, Grant
from apps.console.admin.theme import RowsBelow, TextInput
from apps.console.operated import may_grant

GONE = (
    "Somebody removed these grants meanwhile: {}. They are left out; add them anew, or save again."
)


class GrantForm(forms.ModelForm[Grant]):
    """Names are typed: a list of all people would be for everybody who may edit anything."""

    user = forms.ModelChoiceField(
        get_user_model()._default_manager.all(),
        label="Person",
        required=False,
        to_field_name="username",
        widget=TextInput,
        error_messages={"invalid_choice": "There is nobody with this username."},
    )
    group = forms.ModelChoiceField(
        Group.objects.all(),
        label="Group or team",
        required=False,
        to_field_name="name",
        widget=TextInput,
        error_messages={"invalid_choice": "There is no such group."},
    )

    class Meta:
        model = Grant
        fields = ("user", "group", "role")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Fields show the names of rows, but numbers as they are.
        for name in ("user", "group"):
            self.initial[name] = getattr(self.instance, name)

    def full_clean(self) -> None:
        """The theme shows no errors of a whole row, so they stand at its first field."""
        super().full_clean()
        if self.is_bound and (errors := self.errors.pop(NON_FIELD_ERRORS, None)):
            self.add_error("user", errors.as_data())


class GrantFormSet(forms.BaseInlineFormSet[Grant, Application, GrantForm]):
    """Rows of grants that were removed meanwhile are left out, once with a word."""

    gone: tuple[str, ...] = ()
    """The holders of those."""

    def __init__(self, data: Any = None, **options: Any) -> None:
        if data is not None:
            data = self.renumbered(data, options["prefix"], options["instance"])
        super().__init__(data, **options)

    def renumbered(
        self, data: Mapping[str, str], prefix: str, application: Application
    ) -> Mapping[str, str]:
        """The typed rows. None from a page that is older than grants, which stay as they are."""
        pks = Grant.objects.filter(application=application.pk).values_list("pk", flat=True)
        kept, rows = {*map(str, pks)}, [*typed_rows(data, prefix)]
        gone = [row for row in rows if row.get("id") and row["id"] not in kept]
        self.gone = tuple(
            row.get("user") or row.get("group", "") for row in gone if "DELETE" not in row
        )
        rows = [row for row in rows if row not in gone]
        stored = sum(1 for row in rows if row.get("id"))
        return {
            f"{prefix}-TOTAL_FORMS": str(len(rows)),
            f"{prefix}-INITIAL_FORMS": str(stored),
            **{
                f"{prefix}-{number}-{name}": value
                for number, row in enumerate(rows)
                for name, value in row.items()
            },
        }

    def clean(self) -> None:
        super().clean()
        if self.gone:
            raise forms.ValidationError(GONE.format(", ".join(self.gone)))


def typed_rows(data: Mapping[str, str], prefix: str) -> Iterator[dict[str, str]]:
    number = 0
    while f"{prefix}-{number}-role" in data:
        start = f"{prefix}-{number}-"
        yield {name.removeprefix(start): data[name] for name in data if name.startswith(start)}
        number += 1


class GrantInline(RowsBelow):
    model = Grant
    form = GrantForm
    formset = GrantFormSet
    verbose_name_plural = "Who may use it, beside its owner"
    fields = (("user", "group", "role"),)
    extra = 1

    def get_queryset(self, request: HttpRequest) -> QuerySet[Grant]:
        rows: QuerySet[Grant] = super().get_queryset(request)
        return rows.select_related("user", "group").order_by("-role", "pk")

    def has_view_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        return may_grant(request, obj)

    has_change_permission = has_delete_permission = has_add_permission
