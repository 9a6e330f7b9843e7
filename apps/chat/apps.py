from django.apps import AppConfig
from django.db.models.signals import post_delete


class ChatConfig(AppConfig):
    name = "apps.chat"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # A conversation also goes with its application, and then no function of ours is called.
        from apps.chat.deletion import forget
        from apps.chat.models import Conversation

        post_delete.connect(forget, sender=Conversation, dispatch_uid="chat.forget")
