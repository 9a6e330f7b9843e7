from django.http import HttpResponse
from django.urls import include, path

urlpatterns = [
    path("healthz", lambda request: HttpResponse()),
    path("", include("allauth.idp.urls")),
    path("accounts/", include("allauth.urls")),
]
