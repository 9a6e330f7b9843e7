"""Defines the URLs for sign-in with identity providers, with the names that django-allauth uses."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.socialaccount import views
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.github.views import oauth2_callback, oauth2_login
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from apps.accounts.sign_in.openid_connect import OpenIDConnectAdapter

View = Callable[..., HttpResponse]


def with_redirect_page(view: View) -> View:
    """Return a view that replaces a redirect with a page that redirects the browser.

    After a form is submitted, browsers check redirects against our content security policy, which
    allows only our own URLs.
    """

    @wraps(view)
    def leave(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        answer = without_missing_provider(view)(request, **kwargs)
        if answer.status_code != 302:
            return answer
        return render(request, "socialaccount/leave.html", {"address": answer["Location"]})

    return leave


def without_missing_provider(view: View) -> View:
    @wraps(view)
    def with_404(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, **kwargs)
        except SocialApp.DoesNotExist as error:
            raise Http404 from error

    return with_404


def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    adapter = OpenIDConnectAdapter(request, provider_id)
    answer: HttpResponse = OAuth2CallbackView.adapter_view(adapter)(request)
    return answer


urlpatterns = [
    path("linked/", views.connections, name="socialaccount_connections"),
    path("cancelled/", views.login_cancelled, name="socialaccount_login_cancelled"),
    path("oidc/<slug:provider_id>/login/", with_redirect_page(login), name="openid_connect_login"),
    path(
        "oidc/<slug:provider_id>/callback/",
        without_missing_provider(callback),
        name="openid_connect_callback",
    ),
    path("github/login/", with_redirect_page(oauth2_login), name="github_login"),
    path("github/callback/", without_missing_provider(oauth2_callback), name="github_callback"),
]
