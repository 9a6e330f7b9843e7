"""What the provider tells of people: what stands in the file of the test."""

from typing import Any

from allauth.idp.oidc.adapter import DefaultOIDCAdapter

from tests.identity_provider.settings import people


class Adapter(DefaultOIDCAdapter):  # type: ignore[misc]
    def get_claims(self, purpose: str, user: Any, *args: Any, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().get_claims(purpose, user, *args, **more)
        return {**found, **people()[user.username]}
