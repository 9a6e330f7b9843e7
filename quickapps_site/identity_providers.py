"""Parses the setting SIGN_IN_PROVIDERS: the identity providers with which users can sign in."""

from typing import Annotated, Any, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from apps.environment_variables import read_variable

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=191)]


class IdentityProvider(BaseModel):
    """An identity provider in SIGN_IN_PROVIDERS. Its redirect URI contains `id`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Id
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]
    kind: Literal["oidc", "github"] = "oidc"
    server_url: Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")] = ""
    client_id: Text
    client_secret_env: str = ""
    """The environment variable that contains the client's secret, which may also be in `NAME_FILE`,
    or "" for a client without a secret.
    """
    scopes: tuple[Text, ...] = ()
    groups_claim: str = ""
    """The claim that contains a user's groups: a name such as `groups`, or a path such as
    `realm_access.roles`.
    """
    allow_sign_up: bool | None = None
    """True if unknown users get an account. None means that SIGN_UP decides."""
    link_by_verified_email: bool = False

    def app(self) -> dict[str, Any]:
        """Return the provider in django-allauth's format. Raises `ValueError` if its ID, URL or
        secret is invalid.
        """
        settings = {
            "oauth_pkce_enabled": True,
            "email_authentication": self.link_by_verified_email,
            "groups_claim": self.groups_claim,
            "allow_sign_up": self.allow_sign_up,
            "client_secret_env": self.client_secret_env,
        }
        if self.kind == "oidc":
            if not self.server_url or self.id in {"openid_connect", "github"}:
                raise ValueError(f"{self.id}: set a server_url, and use an ID other than github.")
            scopes = self.scopes or ("profile", "email")
            settings |= {"server_url": self.server_url, "scope": ["openid", *scopes]}
        else:
            if self.server_url or self.id != "github":
                raise ValueError(f"{self.id}: for GitHub, use the ID github and no server_url.")
            settings["scope"] = list(self.scopes or ("user:email",))
        return {
            "provider_id": self.id,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.secret(),
            "settings": settings,
        }

    def secret(self) -> str:
        if not self.client_secret_env:
            return ""
        if not (found := read_variable(self.client_secret_env)):
            raise ValueError(f"{self.id}: the variable {self.client_secret_env} is not set.")
        return found


PROVIDERS = TypeAdapter(tuple[IdentityProvider, ...])


def read_providers(raw: str) -> dict[str, Any]:
    """Convert the JSON in SIGN_IN_PROVIDERS to django-allauth's SOCIALACCOUNT_PROVIDERS.

    Raises `ImproperlyConfigured`, with a message that does not repeat any value.
    """
    try:
        providers = PROVIDERS.validate_json(raw or "[]")
        apps = [(provider.kind, provider.app()) for provider in providers]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ImproperlyConfigured(f"SIGN_IN_PROVIDERS: {place}: {first['msg']}") from None
    except ValueError as error:
        raise ImproperlyConfigured(f"SIGN_IN_PROVIDERS: {error}") from None
    if len({app["provider_id"] for _, app in apps}) < len(apps):
        raise ImproperlyConfigured(
            "SIGN_IN_PROVIDERS: two providers have the same id; change one of them."
        )
    return {
        "openid_connect": {
            "provider_class": "apps.accounts.sign_in.openid_connect.OpenIDConnect",
            "APPS": [app for kind, app in apps if kind == "oidc"],
        },
        "github": {"APPS": [app for kind, app in apps if kind == "github"]},
    }
