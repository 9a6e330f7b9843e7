"""The addresses at which programs begin something."""

from django.urls import URLPattern, path

from apps.triggers.webhook_consumer import WebhookConsumer

urlpatterns: list[URLPattern] = [path("hooks/<uuid:uuid>", WebhookConsumer.as_asgi())]
