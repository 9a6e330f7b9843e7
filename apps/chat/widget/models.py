"""The database model of used identities."""

from django.db import models


class UsedIdentity(models.Model):
    """An identity or a sign-in code that was used. The row is deleted after it has expired."""

    digest = models.CharField(
        max_length=64, primary_key=True, help_text="A hash of the application and the `jti`."
    )
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        app_label = "chat"

    def __str__(self) -> str:
        return self.digest
