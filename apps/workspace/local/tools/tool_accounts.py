"""Defines the database models for users' accounts on tool servers and for this installation's OAuth
clients.
"""

import uuid
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from apps.accounts.caller import of_person
from apps.manifest.secrets import Credential
from apps.workspace.local.secrets.field import SecretField

LONGEST_URL = 500
UNFINISHED = timedelta(days=30)
"""The time after which an account without a completed sign-in is deleted. Users need less time than
this to sign in, or to sign in again after their session has expired.
"""


class ToolAccount(models.Model):
    """A user's account on a tool server. It has no token until the user has signed in."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    bucket = models.CharField(max_length=100)
    server = models.CharField(max_length=LONGEST_URL)
    """The receiver of the token: the URL of an MCP server, or the origin of a REST service.
    Together with `client` and `token_service`, which the manifest sets, it identifies the account.
    """
    client = models.CharField(max_length=LONGEST_URL, blank=True)
    token_service = models.CharField(max_length=LONGEST_URL, blank=True)
    title = models.CharField(max_length=200)
    service = models.JSONField(default=dict)
    """The sign-in service in the format of `apps.workspace.oauth.services.SignInService`."""
    client_id = models.CharField(max_length=LONGEST_URL, blank=True)
    client_secret = SecretField(blank=True, default="")
    secret_name = models.CharField(max_length=100, blank=True)
    auth_method = models.CharField(max_length=30, blank=True)

    asked_at = models.DateTimeField(default=timezone.now)
    """The time at which the user was last asked to sign in."""
    state = models.CharField(max_length=64, null=True, blank=True, unique=True)
    """A hash of the OAuth `state` that the sign-in service sends back when it redirects the user.
    """
    state_until = models.DateTimeField(null=True, blank=True)
    verifier = SecretField(blank=True, default="")
    redirect_url = models.CharField(max_length=LONGEST_URL, blank=True)

    access_token = SecretField(blank=True, default="")
    refresh_token = SecretField(blank=True, default="")
    scope = models.TextField(blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    connected_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    """The version of the tokens. Every change to the tokens increases it."""
    refreshing_until = models.DateTimeField(null=True, blank=True)
    """The time until which the process that holds the lease may refresh the token."""

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("bucket", "server", "client", "token_service"),
                name="one_account_at_a_server",
            ),
        )

    def __str__(self) -> str:
        return f"{self.bucket} at {self.server}"

    @property
    def secret(self) -> Credential:
        """Return the OAuth client's secret: plain text, or a reference to a stored secret."""
        return Credential(self.client_secret, self.secret_name)


class RegisteredClient(models.Model):
    """This installation's OAuth client at a sign-in service, created by dynamic registration."""

    issuer = models.CharField(max_length=LONGEST_URL)
    redirect_url = models.CharField(max_length=LONGEST_URL)
    client_id = models.CharField(max_length=LONGEST_URL)
    client_secret = SecretField(blank=True, default="")
    auth_method = models.CharField(max_length=30)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("issuer", "redirect_url"), name="one_client_at_a_sign_in_service"
            ),
        )

    def __str__(self) -> str:
        return self.issuer


def delete_of_bucket(bucket: str) -> None:
    ToolAccount.objects.filter(bucket=bucket).delete()


def delete_unfinished(awaited: Collection[str]) -> int:
    """Delete accounts whose users were asked to sign in long ago and have not done so. Return the
    number of deleted accounts.

    `awaited` contains the IDs of accounts for which a run is still waiting.
    """
    old = ToolAccount.objects.filter(asked_at__lt=timezone.now() - UNFINISHED)
    return old.filter(connected_at=None).exclude(pk__in=awaited).delete()[0]


def delete_accounts_of_user(sender: object, instance: models.Model, **kwargs: Any) -> None:
    ToolAccount.objects.filter(of_person(instance.pk)).delete()
