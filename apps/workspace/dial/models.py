"""Chat completions of Core's models and applications."""

from dataclasses import dataclass, field

from apps.accounts.caller import Caller
from apps.workspace.dial.core import Core, target
from apps.workspace.dial.failures import MOST_ERROR_BYTES, details_of
from apps.workspace.dial.wire import send
from apps.workspace.egress.transport import StreamedResponse
from apps.workspace.services.client import call_limits
from apps.workspace.services.failures import failure_of_refusal


@dataclass(frozen=True, slots=True)
class DialCompletions:
    """A deployment as one caller asks it; `name` is its encoded id."""

    core: Core
    name: str
    headers: dict[str, str] = field(repr=False)
    caller: Caller = field(repr=False)

    def credentials(self) -> list[str]:
        return list(filter(None, (self.caller.api_key, self.caller.bearer)))

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Raises `ModelFailed`, `HTTPError`, `InvalidURL`, `EgressRefused`."""
        path = f"/openai/deployments/{self.name}/chat/completions"
        headers = {
            **self.headers,
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
        }
        place = target(path, {"api-version": self.core.api_version})
        limits = call_limits(idle_seconds)
        answer = await send(self.core, "POST", place, headers, limits, content)
        if answer.is_success:
            return answer
        body = await answer.body.read_refusal(MOST_ERROR_BYTES)
        raise failure_of_refusal(answer, body, details_of(body, self.caller))
