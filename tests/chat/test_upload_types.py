"""The files that users may attach to questions of an application."""

from __future__ import annotations

import pytest

from tests.catalog.rows import manifest_with
from tests.chat.scripts import MANIFEST, says, scene
from tests.chat.test_attached import keep, refusal, send
from tests.chat.test_views import add_application, visiting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

TAKES_PDF = {**MANIFEST, "features": {"input_attachment_types": ["application/pdf", "image/*"]}}


@pytest.mark.parametrize(
    ("manifest", "types"),
    [(TAKES_PDF, "application/pdf,image/*"), (MANIFEST, "text/*"), (manifest_with(), "text/*")],
)
def test_the_page_is_told_which_files_it_may_offer(settings, manifest, types):
    settings.CHAT_UPLOAD_TYPES = ("text/*",)
    application = add_application(manifest=manifest)

    assert visiting().get(application.get_absolute_url()).context["upload_types"] == types


async def test_a_question_takes_files_of_these_types_alone():
    async with scene(manifest=TAKES_PDF) as on:
        on.model.put(says("Fine."), None)
        path = await keep(on.visitor.bucket)
        tab = await on.visitor.tab(on.hub)

        await send(tab, path)
        refused = await refusal(tab)
        await send(tab)
        frames = await tab.until_over()

    assert refused == ("error", "wrong_type")
    assert any(frame["type"] == "message.added" for frame in frames)
