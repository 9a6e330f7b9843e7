"""A form field that offers permissions by name, grouped by application."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.forms import ModelMultipleChoiceField
from django.forms.models import ModelChoiceIterator


class PermissionGroups(ModelChoiceIterator):  # type: ignore[type-arg]
    """Yields permissions grouped by application, in the order of the queryset."""

    def __iter__(self) -> Iterator[Any]:
        for label, rows in groupby(self.queryset, key=app_label):
            yield app_title(label), [self.choice(row) for row in rows]


class PermissionsField(ModelMultipleChoiceField):  # type: ignore[type-arg]
    iterator = PermissionGroups

    def label_from_instance(self, permission: Any) -> str:
        return short_name(permission)


def short_name(permission: Permission) -> str:
    """Return a permission's name without the leading "Can", such as "View runs"."""
    name = permission.name.removeprefix("Can ")
    return name[:1].upper() + name[1:]


def app_title(label: str) -> str:
    """Return the name of a Django app, or its label if the app is not installed."""
    found = apps.app_configs.get(label)
    return label if found is None else str(found.verbose_name)


def app_label(permission: Permission) -> str:
    return permission.content_type.app_label
