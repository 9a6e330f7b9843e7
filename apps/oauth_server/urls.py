"""Routes the URLs of the authorization server, with the names that allauth uses."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.idp.oidc.views import revoke
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path

from apps.oauth_server.views import AuthorizeView, IssueView, RegisterView, metadata

View = Callable[..., HttpResponse]


def if_enabled(view: View) -> View:
    @wraps(view)
    def enabled(request: HttpRequest, **named: Any) -> HttpResponse:
        if not settings.MCP_OAUTH:
            raise Http404("OAuth sign-in for programs is disabled on this server.")
        return view(request, **named)

    return enabled


endpoints = [
    path("authorize", if_enabled(AuthorizeView.as_view()), name="authorization"),
    path("token", if_enabled(IssueView.as_view()), name="token"),
    path("revoke", if_enabled(revoke), name="revoke"),
    path("register", if_enabled(RegisterView.as_view()), name="client_registration"),
]
app_name = "idp"
urlpatterns = [
    path(".well-known/oauth-authorization-server", if_enabled(metadata), name="metadata"),
    path("oauth/", include((endpoints, "oidc"))),
]
