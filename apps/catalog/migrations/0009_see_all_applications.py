from django.db import migrations
from django.db.models import Q

ACCESS_ALL = (
    "access_all_applications",
    "Can use all applications, and edit those that its other permissions allow",
)
SEE_ALL = (
    "see_all_applications",
    "Can see all applications in the admin, with their history, runs and usage",
)
SAW = (
    Q(content_type__app_label="runs", codename__in=("view_run", "change_run", "view_runsummary"))
    | Q(content_type__app_label="insights", codename__in=("view_usagesum", "view_budget"))
    | Q(content_type__app_label="insights", codename__in=("add_budget", "change_budget"))
    | Q(content_type__app_label="accounts", codename__in=("view_auditentry", "view_apikey"))
)


def keep_sight(apps, schema_editor):
    """Who saw runs, usage, budgets and the audit of all applications still does."""
    permissions = apps.get_model("auth", "Permission").objects
    given = permissions.filter(SAW)
    users = apps.get_model("auth", "User").objects.filter(user_permissions__in=given).distinct()
    groups = apps.get_model("auth", "Group").objects.filter(permissions__in=given).distinct()
    if not users.exists() and not groups.exists():
        return
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="catalog", model="application"
    )
    see_all, _ = permissions.get_or_create(
        content_type=kind, codename=SEE_ALL[0], defaults={"name": SEE_ALL[1]}
    )
    for user in users:
        user.user_permissions.add(see_all)
    for group in groups:
        group.permissions.add(see_all)


class Migration(migrations.Migration):

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("catalog", "0008_roles"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="application",
            options={"ordering": ("title",), "permissions": (ACCESS_ALL, SEE_ALL)},
        ),
        migrations.RunPython(keep_sight, migrations.RunPython.noop),
    ]
