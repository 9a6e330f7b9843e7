"""Creates the initial groups, such as operator and auditor, and their permissions.

After each migration, the groups get permissions that are new, but not those that an administrator
has removed. Renamed groups keep their role. Deleted groups are not created again.
"""

from collections.abc import Iterable
from typing import Any

from django.apps import apps as installed_apps
from django.contrib import admin
from django.db.models import Q

ACTIONS = ("add", "change", "delete", "view")
LIBRARIES = ("account", "mfa", "socialaccount", "usersessions")
"""Administrators cannot grant permissions for the tables of these libraries."""
FOR_SUPERUSERS = ("runs.read_run_contents",)
"""The permissions that the group of administrators does not get."""


def everything_of(app: str, *models: str) -> tuple[str, ...]:
    return tuple(f"{app}.{action}_{model}" for model in models for action in ACTIONS)


SHAPES = (
    *("runs.view_run", "runs.view_runsummary", "insights.view_usagesum", "insights.view_price"),
    "schedules.view_schedule",
)
"""The permissions to see the results and costs of runs, but not their contents."""
OPERATOR = (
    *everything_of("catalog", "application", "contentitem"),
    "catalog.publish_application",
    *everything_of("workspace", "deployment"),
    "workspace.view_secret",
    *everything_of("triggers", "webhook", "subscription"),
    "triggers.view_delivery",
    *everything_of("cases", "case"),
    *("cases.add_caserun", "cases.view_caserun"),
    *("feedback.view_feedback", "feedback.change_feedback", "feedback.delete_feedback"),
    *("schedules.add_schedule", "schedules.change_schedule", "schedules.delete_schedule"),
    *SHAPES,
)
AUDITOR = (
    *("catalog.see_all_applications", "catalog.view_application", "catalog.view_contentitem"),
    *("workspace.view_deployment", "accounts.view_auditentry", "insights.view_budget"),
    *SHAPES,
)
PUBLISHER = (
    *("catalog.view_application", "catalog.change_application", "catalog.publish_application"),
    *("catalog.view_contentitem", "workspace.view_deployment"),
    *SHAPES,
)
"""The permissions of a publisher. A publisher also needs a role in each application."""
RUN_READER = (
    *("catalog.see_all_applications", "catalog.view_application", "runs.read_run_contents"),
    *SHAPES,
)
"""The permissions to read the contents of all runs. The audit log records each access."""
ADMINISTRATOR = "administrator"
PERMISSIONS: dict[str, tuple[str, ...]] = {
    "operator": OPERATOR,
    "auditor": AUDITOR,
    "publisher": PUBLISHER,
    "reader of runs": RUN_READER,
}


def grantable_permissions() -> Q:
    """Return a filter for the permissions that administrators can grant: those of models with admin
    pages, and those in `Meta.permissions`.
    """
    found = Q(pk__in=())
    for model in installed_apps.get_models():
        meta = model._meta
        if admin.site.is_registered(model) and meta.app_label not in LIBRARIES:
            found |= Q(content_type__app_label=meta.app_label, content_type__model=meta.model_name)
        if names := [name for name, _ in meta.permissions]:
            found |= Q(content_type__app_label=meta.app_label, codename__in=names)
    return found


def keep_groups(using: str, apps: Any = installed_apps, **told: Any) -> None:
    """Create the initial groups that have never existed, and add new permissions to all of them."""
    try:
        roles = apps.get_model("accounts", "InstallationRole")._default_manager.using(using)
    except LookupError:
        return  # The database was migrated back.
    permissions = apps.get_model("auth", "Permission")._default_manager.using(using)
    groups = apps.get_model("auth", "Group")._default_manager.using(using)
    found = permissions.filter(grantable_permissions()).select_related("content_type")
    by_label = {f"{one.content_type.app_label}.{one.codename}": one for one in found}
    for name in (ADMINISTRATOR, *PERMISSIONS):
        role = roles.filter(name=name).select_related("group").first()
        if role is None:
            group = groups.create(name=free_name(name, groups.values_list("name", flat=True)))
            role = roles.create(name=name, group=group)
        everything = {*by_label} - {*FOR_SUPERUSERS}
        new = ({*PERMISSIONS[name]} if name in PERMISSIONS else everything) & {*by_label}
        new -= {*role.given}
        if new:
            role.given = sorted({*role.given, *new})
            role.save(using=using)
            if role.group is not None:
                role.group.permissions.add(*(by_label[label] for label in new))


def free_name(name: str, used_names: Iterable[str]) -> str:
    return f"{name} of the installation" if name in used_names else name
