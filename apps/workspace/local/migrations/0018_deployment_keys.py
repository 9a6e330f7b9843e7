from django.db import migrations

KEYS = ("change_deployment_keys", "Can set the keys of deployments, and where they are sent")


def keep_keys(apps, schema_editor):
    """Who could set the keys of deployments with the rest of them still can."""
    permissions = apps.get_model("auth", "Permission").objects
    given = permissions.filter(
        content_type__app_label="workspace", codename__in=("add_deployment", "change_deployment")
    )
    users = apps.get_model("auth", "User").objects.filter(user_permissions__in=given).distinct()
    groups = apps.get_model("auth", "Group").objects.filter(permissions__in=given).distinct()
    if not users.exists() and not groups.exists():
        return
    kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="workspace", model="deployment"
    )
    keys, _ = permissions.get_or_create(
        content_type=kind, codename=KEYS[0], defaults={"name": KEYS[1]}
    )
    for user in users:
        user.user_permissions.add(keys)
    for group in groups:
        group.permissions.add(keys)


class Migration(migrations.Migration):

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("workspace", "0017_personal_keys"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="deployment",
            options={"ordering": ("display_name",), "permissions": (KEYS,)},
        ),
        migrations.RunPython(keep_keys, migrations.RunPython.noop),
    ]
