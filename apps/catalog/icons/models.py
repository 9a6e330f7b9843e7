"""Stores the images that applications have as their icons."""

from django.db import models


class IconImage(models.Model):
    """A stored icon. Its name is a hash of the content, so browsers can cache it forever."""

    name = models.CharField(max_length=80, primary_key=True, help_text="`<sha-256>.<ending>`")
    content = models.BinaryField()

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return self.name
