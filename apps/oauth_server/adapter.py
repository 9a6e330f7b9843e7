"""Adapts allauth's OpenID provider to this site."""

from typing import Any

from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from allauth.idp.oidc.models import Client
from django.conf import settings

from apps.accounts.oauth.clients import prepare_client
from apps.accounts.oauth.programs import delete_excess


class OAuthAdapter(DefaultOIDCAdapter):  # type: ignore[misc]
    def get_issuer(self) -> str:
        issuer: str = settings.PUBLIC_URL
        return issuer

    def validate_client_registration(self, *, client: Client, **_: Any) -> None:
        """Prepare a client before it is stored. Raises `ValidationError` for invalid metadata."""
        prepare_client(client)
        # allauth would store everything that the client sent.
        client.data = {"dcr": True}
        delete_excess()
