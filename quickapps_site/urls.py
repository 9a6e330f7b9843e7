"""Defines the URLs of pages that Django serves. `asgi.py` routes API requests before Django."""

from allauth.account import views as account
from django.contrib import admin
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from apps.accounts.sign_in.address_pages import with_mail
from apps.accounts.sign_in.page import SignInView, SignOutView, sign_in_to_admin
from apps.accounts.sign_up.setup_page import setup
from apps.accounts.sign_up.views import SignUpView, follow_invitation, show_waiting
from apps.doors.json_views import nowhere

second_factors = RedirectView.as_view(url="/account/#second-factor")

urlpatterns: list[URLPattern | URLResolver] = [
    # Browsers request this icon for pages without an icon, such as Django's error pages and JSON.
    path("favicon.ico", RedirectView.as_view(url=static("chat/images/icon.svg")), name="favicon"),
    path(
        "", include("apps.console.urls")
    ),  # These URLs come before the admin, which handles every URL below /admin/.
    path("admin/login/", sign_in_to_admin),  # admin:login
    path("admin/", admin.site.urls),
    path("accounts/login/", SignInView.as_view(), name="login"),
    path(
        "accounts/login/", SignInView.as_view(), name="account_login"
    ),  # The name of the page in allauth.
    path("accounts/logout/", SignOutView.as_view(), name="logout"),
    path("accounts/signup/", SignUpView.as_view(), name="account_signup"),
    path("accounts/signup/waiting/", show_waiting, name="sign-up-waiting"),
    path("accounts/invitation/<str:token>/", follow_invitation, name="invitation"),
    path("accounts/email/", with_mail(account.email), name="account_email"),
    path(
        "accounts/password/reset/", with_mail(account.password_reset), name="account_reset_password"
    ),
    # The account page lists second factors, instead of allauth's own lists.
    path("accounts/2fa/", second_factors, name="mfa_index"),
    path("accounts/2fa/webauthn/", second_factors, name="mfa_list_webauthn"),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/", include("apps.accounts.sign_in.social_urls")),
    path("accounts/", include("allauth.account.urls")),
    path("", include("apps.oauth_server.urls")),
    path("setup/", setup, name="setup"),
    re_path(r"^api(?:/|$)", nowhere),
    path("v1/configuration-support/", include("apps.gateway.support")),
    path("demo/", include("apps.demo.services")),
    path("demo/desk/", include("apps.demo.desk")),
    path("scheduled/", include("apps.chat.scheduled.urls")),
    path("", include("apps.chat.urls")),
]

handler403 = "quickapps_site.failures.permission_denied"
handler404 = "quickapps_site.failures.page_not_found"
handler500 = "quickapps_site.failures.server_error"
