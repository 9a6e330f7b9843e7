from django.apps import AppConfig


class LocalWorkspaceConfig(AppConfig):
    name = "apps.workspace.local"
    label = "workspace"
    verbose_name = "Models and files"
    default_auto_field = "django.db.models.BigAutoField"
