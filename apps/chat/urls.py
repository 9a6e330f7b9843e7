"""The addresses of the pages."""

from django.urls import URLPattern, path

from apps.chat import connections, consents, file_views, views

urlpatterns: list[URLPattern] = [
    path("", views.index, name="index"),
    path("approvals/", consents.approvals, name="approvals"),
    path("connections/", connections.connections, name="connections"),
    path("connect/callback/", connections.callback, name="connect-callback"),
    path("connect/<uuid:account>/", connections.connect, name="connect"),
    path("chat/<slug:slug>/", views.chat, name="chat"),
    path("chat/<slug:slug>/<uuid:conversation>/", views.chat, name="conversation"),
    path("chat/<slug:slug>/<uuid:conversation>/rename/", views.rename, name="rename"),
    path("chat/<slug:slug>/<uuid:conversation>/delete/", views.delete, name="delete"),
    path("chat/<slug:slug>/<uuid:conversation>/download/", views.download, name="download"),
    path("chat/<slug:slug>/files/", file_views.upload, name="upload"),
    path("chat/<slug:slug>/<uuid:conversation>/files/", file_views.listing, name="files"),
    path("files/<str:bucket>/<path:name>", file_views.file, name="file"),
]
