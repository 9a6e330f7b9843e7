"""The table of permissions on the form of a group."""

from __future__ import annotations

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType

from apps.console.admin.govern.permission_table import PermissionBox, table_sections


def permission(number: int, app: str, model: str, codename: str, name: str) -> Permission:
    kind = ContentType(app_label=app, model=model)
    return Permission(pk=number, content_type=kind, codename=codename, name=name)


def test_permissions_for_an_app_without_a_page_are_in_a_section_of_their_own():
    permissions = [
        permission(1, "sessions", "session", "view_session", "Can view session"),
        permission(2, "runs", "runsummary", "view_runsummary", "Can view runs"),
        permission(3, "gone", "thing", "add_thing", "Can add thing"),
        permission(4, "sessions", "session", "add_session", "Can add session"),
    ]

    [(watch, [runs]), (other, rows)] = table_sections(permissions, {"4"})

    assert (watch, runs.title, [*runs.boxes]) == ("Watch", "Runs", ["view"])
    assert other == "Other"
    assert [(row.title, row.boxes, row.more) for row in rows] == [
        (
            "Sessions",
            {},
            [
                PermissionBox("1", "View session", is_checked=False),
                PermissionBox("4", "Add session", is_checked=True),
            ],
        ),
        ("gone", {}, [PermissionBox("3", "Add thing", is_checked=False)]),
    ]
