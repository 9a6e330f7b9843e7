"""Fallbacks answer for failing deployments, which are real services on the loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.caller import Caller, Credentials
from apps.agent.events import Event, NoticeAdded, TextDelta
from apps.agent.messages import ModelMessage, Thoughts
from apps.agent.meter import ModelCallReport, NoMeter
from apps.agent.progress import Progress
from apps.agent.stages import silent
from apps.capabilities.deployment.capability import deployment
from apps.capabilities.registry import Opening, PreparedCapabilities
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import ModelFailed
from apps.manifest.validation.validation import read_manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.runs.workspaces import InstalledFirst, open_workspace
from apps.workspace.dial.core import Core
from apps.workspace.local.deployments import fallbacks
from apps.workspace.local.models import Deployment
from tests.capabilities.deployment.scripts import simple, team
from tests.capabilities.manifests import manifest, use
from tests.catalog.rows import make_deployment, manifest_with
from tests.contract import proves
from tests.fakes import MemoryLedger
from tests.workspace.openai.service import (
    CHUNKED,
    CLOSE,
    DONE,
    HOLD,
    Service,
    answer,
    chunked,
    event,
    finish,
    frame,
    service,
    text,
)

pytestmark = pytest.mark.django_db

CALLER = Caller("user-1", "user", user_id=1)
BUSY = answer("503 Overloaded", b"")
GOOD = chunked(text("Hello"), finish(), DONE)
LONG_LIMIT = [b"HTTP/1.1 429 No\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"]
OVERLOADED = "Answered by B because A was overloaded."


@pytest.fixture(autouse=True)
def _loopback(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    monkeypatch.setattr("apps.agent.answers.model_fallbacks.PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr("random.uniform", lambda least, most: least)  # no backoff


def refusal(status: str, **error: str) -> Sequence[Any]:
    return answer(status, json.dumps({"error": error}).encode())


@dataclass
class Heard(NoMeter):
    """The events of a run, and the calls of its models."""

    events: list[Event] = field(default_factory=list)
    reports: list[ModelCallReport] = field(default_factory=list)

    def model_called(self, report: ModelCallReport) -> None:
        self.reports.append(report)

    def inside(self, application: str, version: int) -> Heard:
        return self

    @property
    def text(self) -> str:
        return "".join(one.text for one in self.events if isinstance(one, TextDelta))

    @property
    def notices(self) -> list[str]:
        return [one.text for one in self.events if isinstance(one, NoticeAdded)]

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(one.deployment, one.error) for one in self.reports]


@asynccontextmanager
async def deployed(**answers: Sequence[Any]) -> AsyncIterator[Mapping[str, Service]]:
    """Create deployments of these names. The others are fallbacks of A, the first one."""
    async with AsyncExitStack() as stack:
        services = {
            name: await stack.enter_async_context(service(*scripts))
            for name, scripts in answers.items()
        }
        first, *others = services
        for name, one in services.items():
            await sync_to_async(make_deployment)(
                name,
                provider="openai",
                base_url=one.url,
                display_name=name.upper(),
                fallbacks=others if name == first else [],
            )
        yield services


def application(name: str = "a", **fields: Any) -> ResolvedApplication:
    prompt = {"type": "custom", "content": "Help.", "variables": {}}
    model = {"deployment_id": name, **fields}
    written = read_manifest(
        manifest_with(orchestrator={"deployment": model, "system_prompt": prompt})
    )
    return ResolvedApplication(1, "app", "App", "", True, 1, written, PreparedCapabilities((), ()))


async def ask(
    *messages: ModelMessage,
    app: ResolvedApplication | None = None,
    workspace: Any = None,
    **given: Any,
) -> Heard:
    heard = Heard()
    await run_application(
        app or application(),
        RunRequest(messages or (ModelMessage("user", "Hi"),)),
        workspace or open_workspace(CALLER),
        CALLER,
        heard.events.append,
        progress=Progress(meter=heard),
        **given,
    )
    return heard


@proves("T-57")
async def test_another_deployment_answers_and_the_person_is_told_t_57():
    async with deployed(a=[BUSY] * 4, b=[GOOD]) as services:
        heard = await ask()

    assert (heard.text, heard.notices) == ("Hello", [OVERLOADED])
    assert heard.calls == [("a", "status 503")] * 4 + [("b", "")]
    assert [len(one.requests) for one in services.values()] == [4, 1]


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ([CLOSE], "could not be reached"),
        (answer("401 No", b""), "failed"),
        (answer("403 No", b""), "failed"),
        (refusal("404 No", code="model_not_found"), "failed"),
        (refusal("400 No", code="model_not_found"), "failed"),
        (answer("500 Oops", b""), "failed"),
        (answer("529 Busy", b""), "was overloaded"),
        (LONG_LIMIT, "was overloaded"),
    ],
)
async def test_what_is_wrong_with_a_deployment_is_answered_by_another_one(
    trouble: Sequence[Any], why: str
):
    async with deployed(a=[trouble] * 4, b=[GOOD]):
        heard = await ask()

    assert (heard.text, heard.notices) == ("Hello", [f"Answered by B because A {why}."])


@pytest.mark.parametrize("trouble", [[HOLD], [CHUNKED, frame(b": still here\n\n"), HOLD]])
async def test_a_deployment_that_stays_silent_is_given_up(
    trouble: Sequence[Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fallbacks, "SILENCE_SECONDS", 0.2)
    async with deployed(a=[trouble], b=[GOOD]):
        heard = await ask()

    assert (heard.text, heard.notices) == (
        "Hello",
        ["Answered by B because A did not respond in time."],
    )


@proves("R-12")
@pytest.mark.parametrize(
    "trouble",
    [
        answer("400 Bad", b""),
        answer("413 Large", b""),
        answer("422 No", b""),
        refusal("429 No", code="content_filter"),
        chunked(b'data: {"error": {"type": "invalid_request_error"}}\n\n'),
    ],
)
async def test_what_is_wrong_with_the_request_is_asked_of_nobody_else_r_12(trouble: Sequence[Any]):
    async with deployed(a=[trouble] * 4, b=[GOOD]) as services:
        with pytest.raises(ModelFailed):
            await ask()

    assert services["b"].requests == []


@proves("R-12")
async def test_nobody_else_is_asked_after_the_first_word_r_12():
    cut = [CHUNKED, frame(text("Hel")), CLOSE]
    async with deployed(a=[cut], b=[GOOD]) as services:
        with pytest.raises(ModelFailed):
            await ask()

    assert services["b"].requests == []


async def test_a_wait_that_nobody_accepts_gives_way_to_a_fallback():
    async with deployed(a=[LONG_LIMIT] * 2, b=[GOOD]) as services:
        heard = await ask()

    assert heard.text == "Hello"
    assert len(services["a"].requests) == 1


async def test_each_of_them_is_asked_in_its_order_and_the_first_passing_failure_is_told():
    no_key = answer("401 No", b"")
    async with deployed(a=[no_key], b=[BUSY] * 4, c=[BUSY] * 4) as services:
        with pytest.raises(ModelFailed) as failed:
            await ask()

    assert failed.value.status == 503
    assert [len(one.requests) for one in services.values()] == [1, 4, 4]


async def test_a_fallback_is_asked_with_its_own_model_parameters_and_without_foreign_thoughts():
    thought = Thoughts({"reasoning_content": "Hm."}, "a")
    earlier = ModelMessage("assistant", "Yes.", thoughts=thought)
    async with deployed(a=[BUSY] * 4, b=[GOOD]) as services:
        rows = Deployment.objects
        await rows.filter(deployment_id="a").aupdate(parameters={"temperature": 0, "seed": 1})
        await rows.filter(deployment_id="b").aupdate(
            parameters={"temperature": 1, "seed": 2, "max_tokens": 9}, model_name="bee"
        )
        await ask(
            ModelMessage("user", "So?"),
            earlier,
            ModelMessage("user", "Hi"),
            app=application(parameters={"seed": 1}),
        )

    (_, first), *_ = services["a"].requests
    ((_, second),) = services["b"].requests
    names = ("model", "temperature", "seed", "max_tokens")
    # The manifest's settings apply to both, even if they are the defaults of the first.
    assert [first.get(name) for name in names] == ["a", 0, 1, None]
    assert [second.get(name) for name in names] == ["bee", 1, 1, 9]
    assert "reasoning_content" in first["messages"][2]
    assert "reasoning_content" not in second["messages"][2]


@proves("R-12")
async def test_a_fallback_is_asked_for_no_longer_answer_than_it_gives():
    async with deployed(a=[BUSY] * 4, b=[BUSY] * 4, c=[GOOD]) as services:
        rows = Deployment.objects
        await rows.filter(deployment_id="b").aupdate(max_output_tokens=50)
        await rows.filter(deployment_id="c").aupdate(max_output_tokens=200)
        await ask(app=application(parameters={"max_tokens": 100}))

    asked = [{request["max_tokens"] for _, request in one.requests} for one in services.values()]
    assert asked == [{100}, {50}, {100}]


@proves("R-12")
async def test_nor_does_a_fallback_ask_for_a_longer_answer_by_its_own_parameters():
    async with deployed(a=[BUSY] * 4, b=[GOOD]) as services:
        await Deployment.objects.filter(deployment_id="b").aupdate(
            parameters={"max_completion_tokens": 100}, max_output_tokens=50
        )
        await ask()

    [(_, request)] = services["b"].requests
    assert request["max_completion_tokens"] == 50


@proves("R-12")
async def test_a_conversation_is_not_sent_to_a_fallback_that_does_not_read_so_much():
    long = ModelMessage("user", "word " * 2_000)
    async with deployed(a=[BUSY] * 4, b=[GOOD], c=[GOOD]) as services:
        await Deployment.objects.filter(deployment_id="b").aupdate(context_window=1_000)
        heard = await ask(long)

    unfit, answered = heard.notices
    assert (heard.text, services["b"].requests) == ("Hello", [])
    assert unfit.startswith("B was not called: this conversation has about 2,5")
    assert unfit.endswith(" tokens; the limit is 1,000.")
    assert answered == "Answered by C because A was overloaded."


async def test_a_deployment_whose_fallbacks_read_too_little_waits_as_one_without_any():
    long = ModelMessage("user", "word " * 2_000)
    async with deployed(a=[LONG_LIMIT, GOOD], b=[GOOD]) as services:
        await Deployment.objects.filter(deployment_id="b").aupdate(context_window=1_000)
        heard = await ask(long)

    assert (heard.text, heard.calls) == ("Hello", [("a", "status 429"), ("a", "")])
    assert services["b"].requests == []


@proves("R-12")
async def test_a_run_goes_back_when_its_conversation_outgrows_the_fallback():
    long = ModelMessage("user", "word " * 700)
    # The call makes the conversation too long.
    call = calling("look" * 100)
    async with deployed(a=[*[BUSY] * 4, GOOD], b=[call, GOOD]) as services:
        await Deployment.objects.filter(deployment_id="b").aupdate(context_window=900)
        heard = await ask(long)

    assert heard.text == "Hello"
    assert [len(one.requests) for one in services.values()] == [5, 1]
    assert [text.split(":")[0] for text in heard.notices] == [OVERLOADED, "B was not called"]


def calling(name: str) -> list[Any]:
    call = {
        "index": 0,
        "id": "1",
        "type": "function",
        "function": {"name": name, "arguments": "{}"},
    }
    asked = event(choices=[{"index": 0, "delta": {"tool_calls": [call]}}])
    return chunked(asked, finish("tool_calls"), DONE)


async def test_a_run_stays_with_the_deployment_that_answered():
    async with deployed(a=[BUSY] * 4, b=[calling("look"), GOOD]) as services:
        heard = await ask()

    assert (heard.text, heard.notices) == ("Hello", [OVERLOADED])
    assert [len(one.requests) for one in services.values()] == [4, 2]


async def test_a_run_goes_back_when_its_fallback_fails():
    async with deployed(a=[*[BUSY] * 4, GOOD], b=[calling("look"), *[BUSY] * 4]):
        heard = await ask()

    back = "Answered by A because B was overloaded."
    assert (heard.text, heard.notices) == ("Hello", [OVERLOADED, back])


async def test_a_run_that_another_process_takes_up_stays_with_it_too():
    ledger = MemoryLedger()
    async with deployed(a=[BUSY] * 4, b=[calling("look"), GOOD, GOOD]) as services:
        await ask(ledger=ledger)
        del ledger.steps["m:2"]
        fallbacks.forget_breakers()
        await ask(ledger=ledger)

    assert ledger.steps["m:1"].result["reply"]["deployment"] == "b"
    assert [len(one.requests) for one in services.values()] == [4, 3]


async def test_fallbacks_of_fallbacks_come_after_all_that_a_deployment_names_itself():
    async with deployed(a=[BUSY] * 4, b=[BUSY] * 4, c=[BUSY] * 4, d=[GOOD]):
        rows = Deployment.objects
        await rows.filter(deployment_id="a").aupdate(fallbacks=["b", "c"])
        await rows.filter(deployment_id="b").aupdate(fallbacks=["d", "a"])
        heard = await ask()

    asked = list(dict.fromkeys(name for name, _ in heard.calls))
    assert (asked, heard.text) == (["a", "b", "c", "d"], "Hello")


async def test_a_fallback_that_is_gone_or_disabled_is_skipped_and_the_log_says_so(caplog: Any):
    async with deployed(a=[BUSY] * 4, off=[GOOD], picture=[GOOD], b=[GOOD]):
        rows = Deployment.objects
        await rows.filter(deployment_id="off").aupdate(is_enabled=False)
        await rows.filter(deployment_id="picture").aupdate(kind="image")
        names = ["gone", "off", "picture", "b"]
        await rows.filter(deployment_id="a").aupdate(fallbacks=names)
        heard = await ask()

    said = [record.getMessage() for record in caplog.records if "Skipped" in record.msg]
    assert heard.notices == [OVERLOADED]
    assert said == [
        "Skipped the fallback gone of a: it is missing or disabled",
        "Skipped the fallback off of a: it is missing or disabled",
        "Skipped the fallback picture of a: it is not a chat model",
    ]


async def test_a_deployment_with_an_open_breaker_is_passed_over_until_one_call_tries_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(fallbacks, "OPEN_SECONDS", 600.0)
    async with deployed(a=[*[BUSY] * 5, GOOD, GOOD], b=[GOOD] * 3) as services:
        first, second, third = [await ask() for _ in range(3)]
        asked = len(services["a"].requests)
        (state,) = fallbacks.of_process.states.values()
        state.until = 1.0  # its time is over
        tried, closed = [await ask() for _ in range(2)]

    assert first.notices == second.notices == [OVERLOADED]
    assert third.notices == ["Answered by B because A is unavailable at the moment."]
    assert asked == 5
    assert tried.calls == closed.calls == [("a", "")]
    assert fallbacks.of_process.states == {}


async def test_a_deployment_without_a_fallback_is_asked_however_often_it_failed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(fallbacks, "FAILURES", 2)
    async with deployed(a=[*[BUSY] * 4, GOOD]):
        with pytest.raises(ModelFailed):
            await ask()
        heard = await ask()

    assert heard.text == "Hello"


async def test_when_all_are_in_trouble_they_are_asked_all_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fallbacks, "FAILURES", 1)
    async with deployed(a=[BUSY, GOOD], b=[BUSY] * 4) as services:
        with pytest.raises(ModelFailed):
            await ask()
        heard = await ask()

    assert heard.text == "Hello"
    assert len(services["b"].requests) == 4


async def test_a_bad_request_is_no_failure_of_the_deployment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fallbacks, "FAILURES", 1)
    async with deployed(a=[answer("400 Bad", b"")] * 3, b=[GOOD]):
        for _ in range(3):
            with pytest.raises(ModelFailed):
                await ask()

    assert fallbacks.of_process.states == {}


async def test_an_application_that_core_calls_has_the_fallbacks_of_its_own_deployments():
    core_caller = Caller("", kind="dial", credentials=Credentials(api_key="core-key"))
    async with deployed(a=[BUSY] * 4, b=[GOOD]):
        own = InstalledFirst(core_caller, Core("http://127.0.0.1:1"))
        heard = await ask(workspace=own)

    assert (heard.text, heard.notices) == ("Hello", [OVERLOADED])


async def test_a_deployment_that_is_a_tool_has_its_fallbacks_and_each_is_asked_once():
    own = open_workspace(CALLER)
    opener = deployment.prepare(manifest(team(simple("a"))))
    assert opener is not None

    async with (
        deployed(a=[BUSY] * 2, b=[GOOD]) as services,
        opener(Opening(own, CALLER, silent)) as contribution,
    ):
        result = await use(contribution.tools[0], query="Hi")

    assert result.content == "Hello"
    assert [len(one.requests) for one in services.values()] == [1, 1]
