from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "apps.chat"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"
