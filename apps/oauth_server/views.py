"""Serves the pages and endpoints of the authorization server."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from allauth.idp.oidc.views import AuthorizationView, ClientRegistrationView, TokenView
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from apps.accounts.allauth_internals import is_redirect_allowed, use_client
from apps.accounts.caller import caller_in
from apps.accounts.client_address import address_of
from apps.accounts.oauth.clients import (
    GRANT_TYPES,
    loopback_address,
    redirect_host,
    redirect_source,
)
from apps.accounts.oauth.connections import connect, is_connected
from apps.accounts.oauth.resources import SCOPE, slug_of
from apps.accounts.oauth.rows import Program
from apps.accounts.teams import team_of, teams_of
from apps.catalog.access import usable
from apps.catalog.resolve import versioned_name
from apps.oauth_server.documents import find_oauth_client

MOST_REGISTRATION_BYTES = 16_384
NOT_CONNECTED = "The user has not connected the program to this resource."
INVALID_TARGET = "invalid_target", "Send one resource: the URL of the MCP server."


class AuthorizeView(AuthorizationView):  # type: ignore[misc]
    """Asks users whether a program may act for them, and then redirects to the program with an
    authorization code.
    """

    def get(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        try:
            client = find_oauth_client(request, request.GET.get("client_id", ""))
        except ValidationError as error:
            return show_problem(request, " ".join(error.messages))
        if client is not None and client.is_blocked:
            return show_problem(request, gettext("This program is blocked on this server."))
        if client is not None:
            use_client(with_any_port(client, request.GET.get("redirect_uri", "")))
        problem = problem_of(request.GET)
        if client is not None and problem is not None and redirects(client, request.GET):
            return with_issuer(refuse(request.GET, *problem))
        if not offered_spaces(request.user, slug_of(request.GET.get("resource", "")) or ""):
            return show_problem(request, gettext("You can’t use this app with your account."))
        answer = with_issuer(super().get(request, *args, **named))
        if answer.status_code == 200 and client is not None:
            source = redirect_source(request.GET.get("redirect_uri", ""))
            # Browsers apply the policy to the redirect that follows the form submission.
            vars(answer)["_csp_update"] = {"form-action": [source]}
        return answer

    def post(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        return with_issuer(super().post(request, *args, **named))

    def form_valid(self, form: Any) -> HttpResponse:
        info = self._request_info
        user, client_id = self.request.user, info["client_id"]
        slug = slug_of(info["resources"][0]) or ""
        sent, spaces = self.request.POST.get("team", ""), offered_spaces(user, slug)
        space = next((space for space in spaces if space.value == sent), None)
        if space is None:
            return show_problem(self.request, gettext("You can’t use this app with your account."))
        address = address_of(self.request)
        if not connect(user, client_id, slug, space.team, address):
            return show_problem(
                self.request, gettext("This program is blocked on this server or has been deleted.")
            )
        program = Program.objects.get(pk=client_id)
        use_client(with_any_port(program, info["redirect_uri"]))
        answer: HttpResponse = super().form_valid(form)
        return answer

    def get_context_data(self, **values: Any) -> dict[str, Any]:
        info = self._request_info
        user = self.request.user
        spaces = offered_spaces(user, slug_of(info["resources"][0]) or "")
        space = chosen_space(spaces, team_of(user, self.request.session))
        added = {
            "spaces": spaces,
            "space": space,
            "program": Program.objects.get(pk=info["client_id"]),
            "redirect_host": redirect_host(info["redirect_uri"]),
            "scopes": self._scopes,
        }
        return {**super().get_context_data(**values), **added}


def problem_of(sent: QueryDict) -> tuple[str, str] | None:
    """Return an OAuth error and its description if the authorization request violates a rule that
    allauth does not check, otherwise None.
    """
    if not sent.get("code_challenge") or sent.get("code_challenge_method") != "S256":
        return "invalid_request", "Send a code_challenge with the code_challenge_method S256."
    resources = sent.getlist("resource")
    if len(resources) != 1 or slug_of(resources[0]) is None:
        return INVALID_TARGET
    if sent.get("response_mode", "query") != "query":
        return "invalid_request", "Use the response_mode query, or omit it."
    if "none" in sent.get("prompt", "").split():
        return "interaction_required", "Users confirm each sign-in to a program."
    return None


def with_any_port(client: Program, address: str) -> Program:
    """Allow redirects to any port of localhost if the client may redirect to localhost.

    allauth allows this only for loopback IP addresses, but the metadata documents of common
    programs contain `localhost`.
    """
    local = loopback_address(address)
    known = filter(None, map(loopback_address, client.get_redirect_uris()))
    if local and is_redirect_allowed(local, known):
        client.set_redirect_uris([*client.get_redirect_uris(), address])
    return client


def redirects(client: Program, sent: QueryDict) -> bool:
    """Return True if the request's redirect URI is allowed, so that errors can be sent to it."""
    return is_redirect_allowed(sent.get("redirect_uri", ""), client.get_redirect_uris())


def refuse(sent: QueryDict, error: str, description: str) -> HttpResponse:
    """Redirect to the client with an OAuth error. The redirect URI may have a custom scheme."""
    parameters = {"error": error, "error_description": description}
    if "state" in sent:
        parameters["state"] = sent.get("state", "")
    address = with_parameters(sent.get("redirect_uri", ""), parameters)
    return HttpResponse(status=302, headers={"Location": address})


def with_issuer(answer: HttpResponse) -> HttpResponse:
    """Add the issuer to a redirect to a client, according to RFC 9207."""
    if answer.status_code == 302 and not isinstance(answer, HttpResponseRedirectBase):
        answer["Location"] = with_parameters(answer["Location"], {"iss": settings.PUBLIC_URL})
    return answer


def with_parameters(address: str, parameters: dict[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"


def show_problem(request: HttpRequest, text: str) -> HttpResponse:
    return render(request, "idp/oidc/error.html", {"text": text}, status=400)


class IssueView(TokenView):  # type: ignore[misc]
    """Exchanges codes and refresh tokens for access tokens."""

    def post(self, request: HttpRequest) -> HttpResponse:
        if None in map(slug_of, request.POST.getlist("resource")):
            error, description = INVALID_TARGET
            return JsonResponse({"error": error, "error_description": description}, status=400)
        with transaction.atomic():
            answer: HttpResponse = super().post(request)
            if answer.status_code == 200 and not is_connected(read_token(answer)):
                transaction.set_rollback(True)
                payload = {"error": "invalid_grant", "error_description": NOT_CONNECTED}
                answer = JsonResponse(payload, status=400)
        answer["Cache-Control"] = "no-store"
        return answer


def read_token(answer: HttpResponse) -> str:
    return str(json.loads(answer.content)["access_token"])


class RegisterView(ClientRegistrationView):  # type: ignore[misc]
    """Registers OAuth clients, according to RFC 7591. Anyone can register clients, so their number
    and size are limited.
    """

    def post(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        size = len(request.body)
        if size > MOST_REGISTRATION_BYTES:
            return refuse_registration(
                f"The body is {size} bytes; the limit is {MOST_REGISTRATION_BYTES}."
            )
        try:
            answer: HttpResponse = super().post(request, *args, **named)
        except RecursionError:
            return refuse_registration("The JSON is nested too deeply.")
        answer["Cache-Control"] = "no-store"
        return answer


def refuse_registration(description: str) -> HttpResponse:
    payload = {"error": "invalid_client_metadata", "error_description": description}
    return JsonResponse(payload, status=400)


@require_safe
def metadata(request: HttpRequest) -> HttpResponse:
    """Return the metadata of the authorization server, according to RFC 8414."""
    names = {
        "authorization_endpoint": "authorization",
        "token_endpoint": "token",
        "revocation_endpoint": "revoke",
        "registration_endpoint": "client_registration",
    }
    methods = [*settings.IDP_OIDC_AUTH_METHODS]
    payload = {
        "issuer": settings.PUBLIC_URL,
        **{key: settings.PUBLIC_URL + reverse(f"idp:oidc:{name}") for key, name in names.items()},
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": sorted(GRANT_TYPES),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
    return JsonResponse(payload)


@dataclass(frozen=True, slots=True)
class Space:
    """A space in which a program can act: the user's personal space, whose `team` is None, or a
    team.
    """

    team: int | None
    name: str
    application: str
    """The title of the application that the program requests, or "" for all applications."""

    @property
    def value(self) -> str:
        return "" if self.team is None else str(self.team)


def offered_spaces(user: Any, slug: str) -> list[Space]:
    """Return the spaces in which the user can use the application with this slug, or all of the
    user's spaces if `slug` is "".
    """
    named = [(None, gettext("Personal")), *((team.pk, str(team)) for team in teams_of(user))]
    if not slug:
        return [Space(team, name, "") for team, name in named]
    titles = [(team, name, find_title(user, team, slug)) for team, name in named]
    return [Space(team, name, title) for team, name, title in titles if title]


def find_title(user: Any, team: int | None, slug: str) -> str:
    """Return the title of an application that the user can use in the space, or ""."""
    found = usable(caller_in(user.pk, team)).filter(slug=versioned_name(slug)[0])
    return found.values_list("title", flat=True).first() or ""


def chosen_space(spaces: Sequence[Space], team: int | None) -> Space | None:
    """Return the team's space, or the first space if the team is not offered. Return None if there
    are no spaces.
    """
    chosen = [space for space in spaces if space.team == team]
    return next(iter([*chosen, *spaces]), None)
