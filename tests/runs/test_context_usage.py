"""The context meter in the state of an answer."""

from contextlib import suppress
from typing import Any

from apps.agent.events import Event, StateSaved, Usage
from apps.agent.messages import ModelMessage
from apps.capabilities.registry import PreparedCapabilities
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ModelFailed
from apps.manifest.manifest import Manifest
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.port import DeploymentInfo
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying
from tests.manifest.documents import manifest
from tests.runs.test_run import CALLER
from tests.tables import each_row

FEATURES: dict[str, Any] = {"timestamp": None, "context_usage": {"enabled": True}}


def document(preview: bool = True, **features: Any) -> Manifest:
    lead = {"deployment": {"deployment_id": "gpt"}}
    return read_manifest(manifest(orchestrator=lead, features=FEATURES | features), preview=preview)


async def metered(model: ScriptedModel, window: int | None, written: Manifest) -> list[Any]:
    """Return the meter in each state of an answer, or None if a state has none."""
    states: list[StateSaved] = []
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    workspace.infos = {"gpt": DeploymentInfo("gpt", "gpt", context_window=window)}
    application = ResolvedApplication(
        1, "app", "App", "", True, 1, written, PreparedCapabilities((), ())
    )
    request = RunRequest((ModelMessage("user", "Hello"),))

    def emit(event: Event) -> None:
        if isinstance(event, StateSaved):
            states.append(event)

    with suppress(ModelFailed):
        await run_application(application, request, workspace, CALLER, emit)
    return [one.state.get("context_usage") for one in states]


@each_row(
    ("prompt", "completion", "percent", "recommended"),
    [(100, 23, 12.3, False), (799, 0, 79.9, False), (700, 100, 80.0, True), (1100, 1, 110.1, True)],
)
async def test_the_state_has_what_the_service_counted_of_the_window(
    prompt, completion, percent, recommended
):
    model = ScriptedModel(saying("Fine.", prompt=prompt, completion=completion))

    assert await metered(model, 1000, document()) == [
        {
            "percent": percent,
            "limit_tokens": 1000,
            "compaction_recommended": recommended,
            "source": "model_usage",
        }
    ]


async def test_the_newest_call_of_the_model_counts():
    unknown = [*calling(("1", "nothing", {})), Usage(100, 10)]
    model = ScriptedModel(unknown, saying("Fine.", prompt=200, completion=20))

    (found,) = await metered(model, 1000, document())

    assert found["percent"] == 22.0


@each_row(
    ("window", "prompt", "written"),
    [
        (None, 100, document()),
        (1000, 0, document()),
        (1000, 100, document(context_usage={"enabled": False})),
        (1000, 100, document(context_usage=None)),
        (1000, 100, document(preview=False)),
    ],
)
async def test_nothing_is_reported_that_is_unknown_or_not_wanted(window, prompt, written):
    model = ScriptedModel(saying("Fine.", prompt=prompt, completion=prompt))

    assert await metered(model, window, written) == [None]


async def test_a_call_that_was_not_counted_has_no_meter():
    unknown = [*calling(("1", "nothing", {})), Usage(100, 10)]
    model = ScriptedModel(unknown, [ModelFailed("gone")])

    assert await metered(model, 1000, document()) == [None]
