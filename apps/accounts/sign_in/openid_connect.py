"""Adds a nonce and checks of the provider's responses to django-allauth's OpenID Connect."""

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest, HttpResponse

MOST_SECONDS_AHEAD = 60
"""The maximum number of seconds by which a provider's clock can be ahead of ours."""
LAST_SECOND = 253_402_300_799
"""The last second of the year 9999 as a Unix time. Python's `datetime` supports no later time."""
LONGEST_SUBJECT = SocialAccount._meta.get_field("uid").max_length or 0
LONGEST_EMAIL = EmailAddress._meta.get_field("email").max_length or 0
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Allauth raises these errors for a response whose structure does not follow the protocol."""

ENDPOINTS = ("issuer", "authorization_endpoint", "token_endpoint")


class UnusableResponse(OAuth2Error):  # type: ignore[misc]
    """Raised if a response from the provider is rejected. The message never quotes the response, so
    it can be logged.
    """


def nonce_of(code_verifier: str) -> str:
    """Return the nonce for a sign-in. The nonce is derived from the code verifier in the browser's
    session, without revealing the verifier.
    """
    digest = hashlib.sha256(f"nonce:{code_verifier}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class OpenIDConnectAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    nonce = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's discovery document. Raises UnusableResponse if the document is
        rejected, and an exception of the library `requests` if the download fails.
        """
        try:
            found = super().openid_config
        except AttributeError as error:
            raise UnusableResponse("The provider's configuration is not an object.") from error
        if not all(isinstance(found.get(name), str) for name in ENDPOINTS):
            raise UnusableResponse("The provider's configuration lists no endpoints.")
        config: dict[str, Any] = found
        return config

    def get_access_token_data(
        self, request: HttpRequest, app: SocialApp, client: Any, pkce_code_verifier: str
    ) -> dict[str, Any]:
        """Exchange the authorization code for a token, and return the provider's response. Raises
        UnusableResponse if the response is rejected, and an exception of the library `requests` if
        the provider cannot be reached.
        """
        self.nonce = nonce_of(pkce_code_verifier)
        try:
            data: dict[str, Any] = super().get_access_token_data(
                request, app, client, pkce_code_verifier
            )
        except UNREADABLE as error:
            raise UnusableResponse("The provider's token cannot be read.") from error
        return data

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """Return the sign-in that the provider's response completes. Raises UnusableResponse if the
        response belongs to another sign-in or does not identify one user.
        """
        try:
            claims = self._decode_id_token(app, str(kwargs["response"].get("id_token")))
            told = self._fetch_user_info(token.token) if self.profile_url else {}
            if claims.get("nonce") != self.nonce:
                raise UnusableResponse("The nonce of the ID token does not match.")
            if not isinstance(told, dict) or told.get("sub", claims["sub"]) != claims["sub"]:
                raise UnusableResponse("The ID token and the user info have different subjects.")
            person = {**claims, **told}
            check_storable(person)
            return self.get_provider().sociallogin_from_response(request, {"userinfo": person})
        except UNREADABLE as error:
            raise UnusableResponse("The provider's response cannot be read.") from error

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        """Return the token in a provider's response. Raises OAuth2Error if it is invalid."""
        try:
            return super().parse_token(data)
        except UNREADABLE as error:
            raise UnusableResponse("The provider's token cannot be read.") from error

    @property
    def profile_url(self) -> str:
        return str(self.openid_config.get("userinfo_endpoint") or "")

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        """Return the claims of an ID token. Raises OAuth2Error or one of `UNREADABLE` if they are
        invalid.
        """
        claims: dict[str, Any] = super()._decode_id_token(app, id_token)
        check_claims(claims, app.client_id, time.time())
        return claims


def check_claims(claims: Mapping[str, Any], client_id: str, now: float) -> None:
    """Raise UnusableResponse if a claim that allauth does not check is invalid.

    allauth does not verify the signatures of ID tokens. It also accepts ID tokens that never
    expire, or that were issued in the future.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise UnusableResponse("The ID token's subject is missing or too long.")
    if not is_moment(claims.get("exp")):
        raise UnusableResponse("The ID token has no expiry (exp).")
    for name in ("iat", "nbf"):
        if name in claims and not is_moment(claims[name], now + MOST_SECONDS_AHEAD):
            raise UnusableResponse(
                "The ID token was issued in the future. Check the clocks of this "
                "server and the provider."
            )
    audience = claims.get("aud")
    is_for_several = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if is_for_several else client_id) != client_id:
        raise UnusableResponse("The ID token is for another client.")


def is_moment(value: object, latest: float = LAST_SECOND) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= latest


def check_storable(claims: Mapping[str, Any]) -> None:
    """Raise UnusableResponse if the claims contain NUL characters, and ValueError if they contain
    lone surrogates or NaN, because the database rejects these.
    """
    if "\\u0000" in json.dumps(claims, allow_nan=False):
        raise UnusableResponse("A claim contains a null character, which cannot be stored.")
    json.dumps(claims, ensure_ascii=False).encode()


class OpenIDConnect(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = OpenIDConnectAdapter

    def serialize(self) -> dict[str, Any]:
        # allauth looks up the provider by client ID, which several providers may share.
        return {"id": self.sub_id}

    def get_pkce_params(self) -> dict[str, str]:
        params = super().get_pkce_params()
        return {**params, "nonce": nonce_of(params["code_verifier"])}

    def redirect(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            answer: HttpResponse = super().redirect(request, *args, **kwargs)
        except (OAuth2Error, OSError) as error:  # `requests` raises only subclasses of OSError.
            answer = render_authentication_error(request, self, exception=error)
        return answer

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, str]:
        found = super().extract_common_fields(data)
        return {name: value for name, value in found.items() if isinstance(value, str)}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        email, verified = (data["userinfo"].get(name) for name in ("email", "email_verified"))
        if not isinstance(email, str) or len(email) > LONGEST_EMAIL:
            return []
        # Some providers send a string, and "false" must not count as true.
        is_verified = verified is True or verified == "true"
        return [EmailAddress(email=email, verified=is_verified, primary=True)]
