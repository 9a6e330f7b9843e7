"""The templates of new applications: each makes a draft whose test cases pass with the demo model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from apps.accounts.caller import Caller
from apps.capabilities.mcp.sessions.pool import SessionPool, current_pool
from apps.cases.models import Case, CaseResult, CaseRun
from apps.cases.runner import CaseRunRequest, begin, carry_out
from apps.catalog.actions import publish
from apps.catalog.application_files.exporter import exported_files
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.application_files.starts import application_from_files
from apps.catalog.application_files.templates import template_named, templates
from apps.catalog.application_uploads import reader_for
from apps.catalog.models import Application
from apps.catalog.versions.states import ApplicationState, application_state
from apps.console.studio.templates import make_of_template
from apps.live.hub import Hub
from apps.process_state import forget_object
from apps.workspace.local.files import files
from tests.catalog.rows import make_application, make_deployment, make_operator
from tests.chat.scripts import settled
from tests.console.pages import words
from tests.console.studio.asking import address

NEW = "/admin/catalog/application/new/"
BUILT_IN = Path(__file__).parents[3] / "predefined" / "template"
NAMES = sorted(path.name for path in BUILT_IN.iterdir())


@pytest.fixture
def operator(settings: Any, live_server: Any, monkeypatch: pytest.MonkeyPatch) -> User:
    """The operator of a site that serves itself, with the built-in content."""
    settings.SITE_URL = live_server.url
    settings.ALLOWED_HOSTS = ["localhost"]
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 0)
    import_directories(settings.PREDEFINED_DIR)
    return make_operator()


@pytest.fixture
def owner() -> User:
    return make_operator()


def made(name: str, owner: User) -> Application:
    template = template_named(name)
    assert template is not None
    return make_of_template(template, template.title, name, owner)


async def carried_out(runs: list[CaseRun]) -> None:
    hub = Hub()
    try:
        for run in runs:
            await carry_out(hub, run)
        await settled(hub)
    finally:
        await current_pool().aclose()
        forget_object(SessionPool)


@pytest.mark.slow("runs the cases of eight applications against a real site")
@pytest.mark.django_db(transaction=True)
def test_the_cases_of_each_template_pass_with_the_demo_model(operator: User):
    rows = {name: made(name, operator) for name in NAMES}
    request = CaseRunRequest(target="draft", mode="live")
    runs = [begin(row, operator, request) for row in rows.values()]

    async_to_sync(carried_out)(runs)

    failures = {
        (result.run.application.slug, result.name): result.failures
        for result in CaseResult.objects.all()
    }
    cases = Case.objects.values_list("application__slug", "name")
    assert failures == {case: [] for case in cases}
    assert {slug for slug, _ in cases} == set(NAMES)
    for row in rows.values():
        row.refresh_from_db()
        assert (application_state(row), row.live_number) == (ApplicationState.DRAFT, 0)
        publish.execute(row, "The first")


@pytest.fixture
def layer(settings: Any, tmp_path: Path) -> Path:
    """A layer of predefined content, which has no templates yet."""
    settings.PREDEFINED_EXTRA_PATHS = [str(tmp_path)]
    return tmp_path / "template"


def write_template(folder: Path, title: str = "Our desk") -> None:
    folder.mkdir(parents=True)
    text = f"title: {title}\nmanifest: {{contexts: [], tool_sets: [{{type: mcp, name: a}}]}}\n"
    (folder / "application.yaml").write_text(text)


@pytest.mark.django_db
def test_the_gallery_shows_each_template_with_what_it_uses(admin_client):
    page = admin_client.get(NEW)

    cards = page.context["templates"]
    assert {one.title: one.uses for one in cards} == {
        "Code interpreter": ["Python"],
        "Document Q&A": ["Documents"],
        "Image studio": ["Images"],
        "MCP toolbox": ["MCP server"],
        "Memory companion": ["Memory", "Notes"],
        "Research": ["Tools", "Web search", "Sub-agents", "To-do list"],
        "Scheduled report": ["Tools", "Schedules"],
        "Support desk": ["OpenAPI"],
    }
    assert [one.tile.url[:26] for one in cards] == ["data:image/svg+xml;base64,"] * len(cards)
    assert all(one.description.endswith(".") and "\n" not in one.description for one in cards)
    assert "Search templates" not in words(page)


@pytest.mark.django_db
def test_a_copy_and_a_form_with_mistakes_show_no_gallery(admin_client):
    row = make_application()

    copy = admin_client.get(NEW, {"copy": row.pk})
    mistake = admin_client.post(NEW, {"title": "", "start": "empty"})

    assert ["templates" in answer.context for answer in (copy, mistake)] == [False, False]


@pytest.mark.django_db
def test_a_gallery_of_more_than_twelve_templates_has_a_search_field(admin_client, layer):
    for number in range(5):
        write_template(layer / f"more-{number}")

    assert "Search templates" in words(admin_client.get(NEW))


@pytest.mark.django_db
def test_a_layer_adds_replaces_and_breaks_only_its_own_templates(layer, caplog):
    write_template(layer / "our-desk")
    write_template(layer / "research", title="Our research")
    (layer / "broken").mkdir()
    (layer / "broken" / "application.yaml").write_text("title: 3")

    titles = {one.name: one.title for one in templates()}

    assert set(titles) == {*NAMES, "our-desk"}
    assert (titles["our-desk"], titles["research"]) == ("Our desk", "Our research")
    assert "Skipped the template " in caplog.text


@pytest.mark.django_db
def test_choosing_a_template_opens_the_studio_of_a_draft_with_the_installations_model(
    admin_client,
):
    make_deployment()
    make_deployment("gpt", provider="openai")

    first = admin_client.post(NEW, {"template": "support-desk"})
    admin_client.post(NEW, {"template": "support-desk"})
    unknown = admin_client.post(NEW, {"template": "nothing"})

    row, again = Application.objects.order_by("pk")
    (toolset,) = row.draft.manifest["tool_sets"]
    tools = [one["open_ai_tool"]["function"]["name"] for one in toolset["tools"]]
    assert (first["Location"], row.slug, again.slug) == (
        address(row),
        "support-desk",
        "support-desk-2",
    )
    assert (application_state(row), str(row.owner)) == (ApplicationState.DRAFT, "operator")
    assert row.draft.manifest["orchestrator"]["deployment"] == {"deployment_id": "gpt"}
    assert tools == ["find_order", "search_articles", "open_ticket"]
    assert row.draft.icon.endswith(".svg")
    assert "This template no longer exists" in words(unknown)


@pytest.mark.django_db
def test_the_files_of_a_template_belong_to_the_new_application(owner: User):
    row = Application.objects.get(pk=made("document-qa", owner).pk)

    [context] = row.draft.manifest["contexts"]
    content = files.read(reader_for(Caller("user-1", user_id=owner.pk)), context["url"])
    assert row.uploads.count() == 1
    assert content.content == (BUILT_IN / "document-qa" / "files" / "handbook.md").read_bytes()


@pytest.mark.django_db
def test_an_exported_draft_of_a_template_can_be_read_again(owner: User):
    row = made("support-desk", owner)

    found = application_from_files(exported_files(row, draft=True), row.slug)

    assert found.fields["manifest"] == row.draft.manifest
    assert found.parts is not None
    assert set(found.parts.cases) == {"looks-up-an-order.yaml", "searches-the-help-articles.yaml"}
