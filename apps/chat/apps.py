from django.apps import AppConfig
from django.db.models.signals import post_delete, post_save, pre_delete


class ChatConfig(AppConfig):
    name = "apps.chat"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Rows are deleted in many ways, some of which call no function of ours.
        from apps.catalog.models import Application
        from apps.chat import former
        from apps.chat.deletion import forget
        from apps.chat.models import Conversation

        post_delete.connect(forget, sender=Conversation, dispatch_uid="chat.forget")
        pre_delete.connect(former.part, sender=Application, dispatch_uid="chat.part")
        post_save.connect(former.rejoin, sender=Application, dispatch_uid="chat.rejoin")
