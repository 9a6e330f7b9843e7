"""The URL of the page's socket."""

from django.urls import URLPattern, path

from apps.chat.socket.consumer import ChatConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/chat/<slug:slug>/", ChatConsumer.as_asgi()),
]
