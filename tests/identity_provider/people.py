"""The provider's claims about users, read from the file of the test.

Claims in `in id_token` and in `userinfo` are sent only there.
"""

from typing import Any

from allauth.idp.oidc.adapter import DefaultOIDCAdapter

from tests.identity_provider.settings import people


class Adapter(DefaultOIDCAdapter):  # type: ignore[misc]
    def get_claims(self, purpose: str, user: Any, *args: Any, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().get_claims(purpose, user, *args, **more)
        told = dict(people()[user.username])
        only_here = told.pop(f"in {purpose}", {})
        return {**found, **told, **only_here}
