"""An image model answers with a picture, which is stored among the caller's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import AttachmentAdded, Usage
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import Delta, Finish, ModelRequest
from apps.errors import FileRefused, ModelFailed
from apps.workspace.local.models import Deployment
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.picture_model import ImageModel, Pictures, size_of

pytestmark = pytest.mark.django_db

CALLER = Caller("user-7")
PNG = b"\x89PNG\r\n\x1a\n..."


class Painter:
    """Records its requests."""

    def __init__(self, *contents: tuple[bytes, str], usage: Usage | None = None) -> None:
        self.pictures = Pictures(contents, usage)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def make(self, prompt: str, options: Mapping[str, Any]) -> Pictures:
        self.asked.append((prompt, dict(options)))
        return self.pictures


async def ask(model: Any, text: str = "A red boat", **parameters: Any) -> list[Delta]:
    earlier = (
        ModelMessage("system", "Be kind."),
        ModelMessage("user", "Hi"),
        ModelMessage("assistant", "Hi"),
    )
    request = ModelRequest((*earlier, ModelMessage("user", text)), parameters=parameters)
    return [delta async for batch in model.stream(request) for delta in batch]


async def test_each_picture_is_kept_and_attached():
    files = LocalWorkspace(CALLER).files
    painter = Painter((PNG, "image/png"), (b"\xff\xd8\xff", "image/jpeg"), usage=Usage(3, 4))

    first, second, *rest = await ask(ImageModel(painter, files), "A red\n boat " + "x" * 99)

    title = "A red boat " + "x" * 68 + "…"
    assert rest == [Finish("stop"), Usage(3, 4)]
    kept = []
    for delta, kind in ((first, "image/png"), (second, "image/jpeg")):
        assert isinstance(delta, AttachmentAdded)
        url = delta.attachment.url or ""
        assert delta.attachment == Attachment(kind, title, url=url)
        assert url.endswith(".png" if kind == "image/png" else ".jpg")
        kept.append((await files.read(url)).content)
    assert kept == [PNG, b"\xff\xd8\xff"]


async def test_the_newest_question_and_what_is_for_pictures_reach_the_service():
    painter = Painter((PNG, "image/png"))
    model = ImageModel(painter, LocalWorkspace(CALLER).files, {"size": "1x1", "steps": 4})

    await ask(
        model,
        temperature=0.5,
        quality="low",
        custom_fields={"configuration": {"size": "1024x1792", "style": "vivid"}},
    )

    options = {"size": "1024x1792", "steps": 4, "quality": "low", "style": "vivid"}
    assert painter.asked == [("A red boat", options)]


async def test_a_question_without_words_asks_no_service():
    painter = Painter()

    with pytest.raises(ModelFailed) as failed:
        await ask(ImageModel(painter, LocalWorkspace(CALLER).files), " \n")

    assert failed.value.display == "Describe the picture that you want."
    assert painter.asked == []


async def test_a_picture_that_cannot_be_kept_is_told_as_a_failure():
    model = ImageModel(Painter((PNG, "image/png")), LocalWorkspace(Caller("")).files)

    with pytest.raises(ModelFailed) as failed:
        await ask(model)

    assert isinstance(failed.value.__cause__, FileRefused)
    assert failed.value.display == "Files need an owner. Sign in first."


async def test_the_built_in_pictures_are_drawn_without_a_key():
    kind, provider = Deployment.Kind.IMAGE, Deployment.Provider.DEMO
    await Deployment.objects.acreate(
        deployment_id="pictures", display_name="P", kind=kind, provider=provider
    )
    workspace = LocalWorkspace(CALLER)

    added, _ = await ask(await workspace.model("pictures"), size="512x256")

    assert isinstance(added, AttachmentAdded)
    found = await workspace.files.read(added.attachment.url or "")
    assert (found.info.content_type, found.content[16:24]) == (
        "image/png",
        (512).to_bytes(4) + (256).to_bytes(4),
    )
    assert (await workspace.deployment("pictures")).kind == "image"
    assert "size" in (await workspace.deployment("pictures")).configuration_schema["properties"]


@pytest.mark.parametrize(
    ("written", "size"),
    [("1024x1792", (1024, 1792)), ("auto", (1024, 1024)), (None, (1024, 1024))],
)
def test_a_size_that_is_no_pair_of_numbers_is_a_square(written, size):
    assert size_of(written) == size
