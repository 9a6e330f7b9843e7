"""The addresses of the page's consumers."""

from channels.auth import AuthMiddlewareStack
from django.urls import URLPattern, path

from apps.chat.consumers import ChatConsumer
from apps.chat.event_stream import NotificationsConsumer

http_urlpatterns: list[URLPattern] = [
    path("api/notifications", AuthMiddlewareStack(NotificationsConsumer.as_asgi())),
]
websocket_urlpatterns: list[URLPattern] = [
    path("ws/chat/<slug:slug>/", ChatConsumer.as_asgi()),
]
