"""The addresses of the pages."""

from django.urls import URLPattern, path

from apps.chat import (
    connections,
    consents,
    file_views,
    key_page,
    memory_page,
    sent_requests,
    views,
)

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
    path("chat/<slug:slug>/<uuid:conversation>/usage/", views.usage, name="usage"),
    path(
        "chat/<slug:slug>/<uuid:conversation>/memory/",
        memory_page.switch,
        name="conversation-memory",
    ),
    path("connections/keys/store/", key_page.store, name="keys-store"),
    path("connections/keys/test/", key_page.test, name="keys-test"),
    path("connections/keys/delete/", key_page.delete, name="keys-delete"),
    path("answers/<uuid:run>/requests/", sent_requests.answer_requests, name="answer-requests"),
    path("memory/", memory_page.memories, name="memory"),
    path("memory/settings/", memory_page.settings, name="memory-settings"),
    path("memory/import/", memory_page.import_file, name="memory-import"),
    path("memory/delete/", memory_page.delete, name="memory-delete-all"),
    path("memory/<int:collection>/delete/", memory_page.delete, name="memory-delete"),
    path("memory/<int:collection>/export/", memory_page.export, name="memory-export"),
    path("memory/<int:collection>/undo/", memory_page.undo, name="memory-undo"),
    path("memory/<int:collection>/forget/", memory_page.forget, name="memory-forget"),
    path("memory/<int:collection>/<int:number>/", memory_page.edit, name="memory-edit"),
    path("chat/<slug:slug>/files/", file_views.upload, name="upload"),
    path("chat/<slug:slug>/<uuid:conversation>/files/", file_views.listing, name="files"),
    path("files/<str:bucket>/<path:name>", file_views.file, name="file"),
]
