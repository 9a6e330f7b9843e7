"""Defines the database model for stored responses."""

from django.db import models

from apps.live.models import Run


class StoredResponse(models.Model):
    """A stored response. It has the same ID as its run, and is deleted with its question or its
    conversation.

    `context` is the conversation before the response: the hexadecimal IDs of earlier responses, and
    items for messages from other APIs. `echo` contains the request parameters that the response
    repeats. `resource` is None until the run has ended.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="stored_response"
    )
    is_background = models.BooleanField(default=False)
    context = models.JSONField(default=list)
    input = models.JSONField(default=list)
    echo = models.JSONField(default=dict)
    resource = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"response {self.run_id}"
