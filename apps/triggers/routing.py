"""Routes webhook URLs to their consumer."""

from django.urls import URLPattern, path

from apps.triggers.webhooks.consumer import WebhookConsumer

urlpatterns: list[URLPattern] = [path("hooks/<uuid:uuid>", WebhookConsumer.as_asgi())]
