"""The WebSocket URLs of the chat page and the widget."""

from django.urls import URLPattern, path

from apps.chat.socket.consumer import ChatConsumer
from apps.chat.widget.consumer import WidgetConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/chat/<slug:slug>/", ChatConsumer.as_asgi()),
    path("ws/widget/<slug:slug>/", WidgetConsumer.as_asgi()),
]
