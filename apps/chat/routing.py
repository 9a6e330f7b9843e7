"""The addresses of the page's consumers."""

from channels.auth import AuthMiddlewareStack
from django.urls import URLPattern, path

from apps.chat.client_calls import ClaimConsumer, ResultConsumer
from apps.chat.consumers import ChatConsumer
from apps.chat.conversations import (
    ConversationConsumer,
    ConversationsConsumer,
    DeletionConsumer,
)
from apps.chat.event_stream import NotificationsConsumer
from apps.chat.tasks import CancelConsumer, SubmitConsumer, TaskConsumer

TASKS = "api/IAIAssistantApi"

http_urlpatterns: list[URLPattern] = [
    path("api/notifications", AuthMiddlewareStack(NotificationsConsumer.as_asgi())),
    path(f"{TASKS}/SubmitMessage", AuthMiddlewareStack(SubmitConsumer.as_asgi())),
    path(f"{TASKS}/tasks/<uuid:task>", AuthMiddlewareStack(TaskConsumer.as_asgi())),
    path(f"{TASKS}/tasks/<uuid:task>/cancel", AuthMiddlewareStack(CancelConsumer.as_asgi())),
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
websocket_urlpatterns: list[URLPattern] = [
    path("ws/chat/<slug:slug>/", ChatConsumer.as_asgi()),
]
