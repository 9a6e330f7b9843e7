"""Defines the database models for stored model requests. A message or tool that several requests of
a conversation have in common is stored once.
"""

import uuid

from django.db import models
from django.utils import timezone

DIGEST_CHARACTERS = 32
READ_CONTENTS = "runs.read_run_contents"
"""The permission to read the content of other users' runs."""


class SentPart(models.Model):
    """A message or a tool in stored model requests, as JSON that is truncated if it is long. It
    belongs to one stream and is deleted with it.
    """

    stream = models.UUIDField()
    digest = models.CharField(max_length=DIGEST_CHARACTERS)
    text = models.TextField()
    size = models.PositiveBigIntegerField(help_text="The size of the request in bytes.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("stream", "digest"), name="a_part_is_kept_once"),
        )

    def __str__(self) -> str:
        return f"{self.stream} {self.digest}"


class SentRequestRow(models.Model):
    """A stored model request.

    `members` lists the fields of the request's JSON in order, each with its value or with the
    digests of its `SentPart` rows. `prompt` and `private` have the same meanings as in
    `SentRequest`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    stream = models.UUIDField()
    run = models.UUIDField(db_index=True)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    application = models.CharField(max_length=255)
    model = models.CharField(max_length=255)
    members = models.JSONField()
    prompt = models.JSONField(default=list)
    private = models.JSONField(default=list)

    class Meta:
        verbose_name = "request to a model"
        verbose_name_plural = "requests to models"
        permissions = (("read_run_contents", "Can view model requests and other contents of runs"),)
        indexes = (models.Index(fields=("stream",), name="sent_requests_by_stream"),)

    def __str__(self) -> str:
        return f"{self.run}: {self.model}"
