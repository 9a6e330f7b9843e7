"""Routes the URLs of the Messages API to their consumers."""

from typing import Any

from django.urls import URLPattern, re_path

from apps.messages.consumers import CountConsumer, MessageConsumer, ModelsConsumer

VERSION = b"anthropic-version"
"""The header that distinguishes Anthropic's clients from OpenAI's clients at the same URL."""

urlpatterns: list[URLPattern] = [
    re_path(r"^v1/messages/?$", MessageConsumer.as_asgi()),
    re_path(r"^v1/messages/count_tokens/?$", CountConsumer.as_asgi()),
]


def by_version(models: Any) -> list[URLPattern]:
    """Return the URL pattern of the model list. Only Anthropic's clients get this API's list; the
    ASGI application `models` serves all other clients.
    """
    own = ModelsConsumer.as_asgi()

    async def choose(scope: Any, receive: Any, send: Any) -> None:
        is_ours = any(name == VERSION for name, _ in scope["headers"])
        await (own if is_ours else models)(scope, receive, send)

    route: Any = choose
    return [re_path(r"^v1/models/?$", route)]
