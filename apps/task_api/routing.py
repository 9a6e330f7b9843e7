"""Routes the URLs of the Conversations API."""

from channels.auth import AuthMiddlewareStack
from django.urls import URLPattern, path

from apps.task_api.client_calls import ClaimConsumer, ResultConsumer
from apps.task_api.conversations import (
    ConversationConsumer,
    ConversationsConsumer,
    DeletionConsumer,
)
from apps.task_api.event_stream import NotificationsConsumer
from apps.task_api.tasks import AnswerConsumer, CancelConsumer, SubmitConsumer, TaskConsumer

TASKS = "api/IAIAssistantApi"

urlpatterns: list[URLPattern] = [
    path("api/notifications", AuthMiddlewareStack(NotificationsConsumer.as_asgi())),
    path(f"{TASKS}/SubmitMessage", AuthMiddlewareStack(SubmitConsumer.as_asgi())),
    path(f"{TASKS}/tasks/<uuid:task>", AuthMiddlewareStack(TaskConsumer.as_asgi())),
    path(f"{TASKS}/tasks/<uuid:task>/cancel", AuthMiddlewareStack(CancelConsumer.as_asgi())),
    path(f"{TASKS}/tasks/<uuid:task>/answer", AuthMiddlewareStack(AnswerConsumer.as_asgi())),
    path(f"{TASKS}/conversations", AuthMiddlewareStack(ConversationsConsumer.as_asgi())),
    path(
        f"{TASKS}/conversations/<uuid:conversation>",
        AuthMiddlewareStack(ConversationConsumer.as_asgi()),
    ),
    path(
        f"{TASKS}/conversations/<uuid:conversation>/delete",
        AuthMiddlewareStack(DeletionConsumer.as_asgi()),
    ),
    path("api/ai/tool-claim", AuthMiddlewareStack(ClaimConsumer.as_asgi())),
    path("api/ai/tool-result", AuthMiddlewareStack(ResultConsumer.as_asgi())),
]
