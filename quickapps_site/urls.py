"""Where Django's own pages are; what streams is routed before Django, in asgi.py."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from apps.accounts.sign_in import SignInView, sign_in_to_admin
from apps.catalog.json_views import nowhere

urlpatterns: list[URLPattern | URLResolver] = [
    # Asked for by browsers on pages that name no icon: error pages of Django, JSON.
    path("favicon.ico", RedirectView.as_view(url=static("chat/images/icon.svg")), name="favicon"),
    path("", include("apps.console.urls")),  # before the admin, which takes all below /admin/
    path("admin/login/", sign_in_to_admin),  # admin:login
    path("admin/", admin.site.urls),
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/login/", SignInView.as_view(), name="account_login"),  # allauth's name of it
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("accounts/", include("apps.accounts.social_urls")),
    re_path(r"^api(?:/|$)", nowhere),
    path("v1/configuration-support/", include("apps.gateway.urls")),
    path("demo/", include("apps.demo.services")),
    path("", include("apps.chat.urls")),
]

handler500 = "quickapps_site.failures.server_error"
