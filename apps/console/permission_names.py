"""Updates the names of permissions after a migration. Django creates permissions, but does not
rename them.
"""

from typing import Any

from django.apps import apps as installed_apps
from django.contrib.auth import get_permission_codename


def rename_permissions(using: str, apps: Any = installed_apps, **told: Any) -> None:
    """Rename the stored permissions to their names in the code."""
    try:
        rows = apps.get_model("auth", "Permission")._default_manager.using(using)
    except LookupError:
        return  # The database was migrated back.
    names = {
        (model._meta.app_label, model._meta.model_name, codename): name
        for model in installed_apps.get_models()  # `apps` has the names in the migrations.
        for codename, name in permission_names(model._meta)
    }
    changed = []
    for row in rows.select_related("content_type"):
        kind = row.content_type
        name = names.get((kind.app_label, kind.model, row.codename), row.name)
        if name != row.name:
            row.name = name
            changed.append(row)
    rows.bulk_update(changed, ["name"])


def permission_names(meta: Any) -> list[tuple[str, str]]:
    """Return the codename and name of each permission for a model, as Django would create it."""
    default = [
        (get_permission_codename(action, meta), f"Can {action} {meta.verbose_name_raw}")
        for action in meta.default_permissions
    ]
    return [*default, *meta.permissions]
