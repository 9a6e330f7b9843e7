"""Routes the URLs of the admin API, the framed editor, the studio and other pages of the admin."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from apps.console.admin.govern.system_messages import read_only_page
from apps.console.admin.rows.row_choices import RowChoicesView
from apps.console.api.applications import ApplicationViewSet
from apps.console.api.budgets import BudgetViewSet
from apps.console.api.cases import CaseRunViewSet, CaseViewSet
from apps.console.api.content import ContentViewSet
from apps.console.api.deployments import DeploymentViewSet
from apps.console.api.feedback import FeedbackViewSet
from apps.console.api.keys import ApiKeyViewSet
from apps.console.api.mcp_servers import McpServerViewSet
from apps.console.api.programs import ProgramConnectionViewSet, ProgramViewSet
from apps.console.api.reference import reference
from apps.console.api.runs import RunViewSet
from apps.console.api.schedules import ScheduleViewSet
from apps.console.api.secrets import SecretViewSet
from apps.console.api.teams import TeamViewSet
from apps.console.api.webhooks import SubscriptionViewSet, WebhookViewSet
from apps.console.dial_editor import views as dial_editor
from apps.console.latency import ai_latency
from apps.console.palette import search_palette
from apps.console.studio import (
    access_panel,
    file_search,
    panels,
    registered_servers,
    uploads,
    widget_panel,
)
from apps.console.studio import answers as studio_answers
from apps.console.studio import new as studio_new
from apps.console.studio import tool_views as studio_tools
from apps.console.studio import views as studio
from apps.console.studio.trials import views as trials
from apps.console.styleguide import styleguide

router = SimpleRouter()
router.register("applications", ApplicationViewSet)
router.register("budgets", BudgetViewSet)
router.register("case-runs", CaseRunViewSet)
router.register("cases", CaseViewSet)
router.register("deployments", DeploymentViewSet)
router.register("feedback", FeedbackViewSet)
router.register("keys", ApiKeyViewSet)
router.register("mcp-servers", McpServerViewSet)
router.register("program-connections", ProgramConnectionViewSet)
router.register("programs", ProgramViewSet)
router.register("runs", RunViewSet)
router.register("schedules", ScheduleViewSet)
router.register("secrets", SecretViewSet)
router.register("subscriptions", SubscriptionViewSet)
router.register("teams", TeamViewSet)
router.register("webhooks", WebhookViewSet)
item = ContentViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})
staff = admin.site.admin_view

studio_urls: list[URLPattern] = [
    path("", staff(studio.studio), name="page"),
    path("choices/", staff(studio.choices), name="choices"),
    path("panels/<str:name>/", staff(panels.panel), name="panel"),
    path("check/", staff(studio.check), name="check"),
    path("save/", staff(studio.save_typed), name="save"),
    path("icon/", staff(studio.upload_icon), name="icon"),
    path("upload/", staff(uploads.upload_file), name="upload"),
    path("files/search/", staff(file_search.search_files), name="file_search"),
    path("access/", staff(access_panel.save_access), name="access"),
    path("grant/", staff(access_panel.save_grant), name="grant"),
    path("people/", staff(access_panel.find_people), name="people"),
    path("widget/", staff(widget_panel.save_widget), name="widget"),
    path("widget/key/", staff(widget_panel.replace_key), name="widget_key"),
    path("widget/preview/", staff(widget_panel.preview), name="widget_preview"),
    path("discard/", staff(studio.discard), name="discard"),
    path("unarchive/", staff(studio.unarchive), name="unarchive"),
    path("difference/", staff(studio.difference), name="difference"),
    path("publish/", staff(studio.publish_draft), name="publish"),
    path("request/", staff(studio.request_publication), name="request"),
    path("return/", staff(studio.return_draft), name="return"),
    path("answer/", staff(studio_answers.answer), name="answer"),
    path("test/", staff(studio.test_deployment), name="test"),
    path("tools/openapi/", staff(studio_tools.openapi), name="openapi"),
    path("tools/curl/", staff(studio_tools.curl), name="curl"),
    path("tools/mcp/", staff(studio_tools.mcp_tools), name="mcp_tools"),
    path("tools/predefined/", staff(studio_tools.list_predefined), name="predefined"),
    path("tools/cards/", staff(studio_tools.cards), name="cards"),
    path("tools/trial/", staff(trials.trial), name="trial"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/autocomplete/", staff(RowChoicesView.as_view(admin_site=admin.site))),
    path("admin/find/", staff(search_palette), name="palette"),
    re_path(
        r"^admin/catalog/application/(?P<pk>\d+)/try/",
        RedirectView.as_view(pattern_name="studio:page"),
    ),
    path("admin/catalog/application/new/", staff(studio_new.new_application), name="studio-new"),
    path(
        "admin/catalog/application/new/slug/",
        staff(studio_new.proposed_slug),
        name="studio-new-slug",
    ),
    path("admin/catalog/mcp-server/", staff(registered_servers.register), name="register-server"),
    path("admin/catalog/application/<int:pk>/studio/", include((studio_urls, "studio"))),
    path("api/", include(router.urls)),
    path("api/content/", ContentViewSet.as_view({"get": "list"}), name="api-content"),
    path("api/content/<str:kind>/<str:name>/", item, name="api-content-item"),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/docs/", reference, name="api-docs"),
    path("dev/ai-latency", ai_latency, name="ai-latency"),
    path("styleguide/", staff(styleguide), name="styleguide"),
    path("admin/read-only/", staff(read_only_page), name="read-only"),
    path("dial/editor/", dial_editor.editor, name="dial-editor"),
    path("dial/editor/check/", dial_editor.check_core_manifest, name="dial-editor-check"),
    path("dial/editor/signed-in/", dial_editor.signed_in, name="dial-editor-signed-in"),
]
