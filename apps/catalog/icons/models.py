"""The images that applications show as their icons."""

from django.db import models


class IconImage(models.Model):
    """An image. Its name is the hash of its content, so that browsers can cache its URL forever."""

    name = models.CharField(max_length=80, primary_key=True, help_text="`<sha-256>.<ending>`")
    content = models.BinaryField()

    class Meta:
        app_label = "catalog"

    def __str__(self) -> str:
        return self.name
