"""Defines the exceptions that several packages raise or catch. Other exceptions are defined in their packages.

* QuickAppError               ends the request; its text is for the user
  - BadRequest                the request is invalid
    + ContextTooLong            the request exceeds the model's context window
  - NotAuthenticated          the credentials are missing or invalid
  - ApplicationNotFound       the caller has no application with that name
  - PlaceNotFound             there is no chat place with that name
  - ApplicationBroken         the application's manifest is invalid or refers to something that does not exist
  - Unsupported               the workspace does not support a feature (such as prompts without DIAL)
  - DeploymentNotFound        there is no deployment with that name
  - FileRefused               a file is too large, or the caller may not write it
    + FileMissing             it does not exist, or is not the caller's
    + FileChanged             it was changed, deleted or created since the writer last saw it
    + FileTooLarge            it has too many bytes, or exceeds its owner's quota
  - ModelFailed               the model service rejected the request, closed the stream or timed out
  - PersonalKeyRefused        the service rejected the user's own key
  - ServiceFailed             a service other than a model (such as DIAL Core) failed or timed out
  - CallsItself               an application calls itself, or calls are nested too deeply
  - StepLimitReached          the run has used all its model calls without an answer
  - Stopped                   a tool failed, and no fallback strategy let the run continue
  - BudgetSpent               a budget for the model call is used up
    + BudgetReserved              calls in progress have reserved the rest, and may release it
  - RateLimitReached          the requests or tokens in the last minute reached the limit
  - TooManyRuns               the limit for concurrent requests is reached
  - ServerStopping            the process stops before the answer is complete
  - ReadOnly                  maintenance: writes are rejected
  - Refused                   a request from the chat page is rejected, for the reason `code`
    + NotAdmitted … Closing       like `Refused`, each with its own HTTP status
  - NotStored                 the events of a run could not be stored
* InitializationIssue         part of the application could not be opened; the run continues without it
* ToolError                   a tool call failed; the run continues; its text goes to the model
  - InvalidParameter          an argument is wrong; the text explains to the model how to fix it
  - ToolTimedOut              it returned no result in time
  - NotApproved               a rule or a user forbids the call
* LeaseLost                   another process has taken over the run, so this one must not write to it
* EgressRefused               the host may not be contacted
"""

from collections.abc import Mapping
from math import ceil


def gettext_noop(text: str) -> str:
    """Mark a text for translation, and return it unchanged. The code that displays the text
    translates it.
    """
    return text


GENERIC = gettext_noop(
    "Something went wrong with the execution of your request. Please contact your administrator."
)
"""The message for users after an unexpected failure."""


TOO_LONG_CODES = frozenset({"context_length_exceeded", "truncate_prompt_error"})
"""The error codes with which services reject a model request as too long."""


def filled(template: str, values: Mapping[str, str | int]) -> str:
    """Return the template with its `{name}` placeholders replaced. Numbers get thousands
    separators.
    """
    # A template without values may contain literal braces.
    shown = {name: one if isinstance(one, str) else f"{one:,}" for name, one in values.items()}
    return template.format(**shown) if shown else template


class QuickAppError(Exception):
    """The base class of errors that end a request. `str(error)` is the text for the user.

    `template` is the text before its `{name}` placeholders are replaced by `values`. Translations
    use it as their key.
    """

    code = "runtime_error"
    """A machine-readable type of error."""
    http_status = 500
    """The status of the response, unless the API's clients expect a different one."""
    text = ""
    """The default message of a class."""

    def __init__(self, text: str = "", **values: str | int) -> None:
        self.template = text or self.text
        self.values: Mapping[str, str | int] = values
        super().__init__(filled(self.template, values))


class BadRequest(QuickAppError):
    """Raised if a request is invalid. `message` is for the log, and `display` is for the user."""

    code = "invalid_request_error"
    http_status = 400

    def __init__(self, message: str, display: str = "", **values: str | int) -> None:
        super().__init__(display or message, **values)
        self.message = message


class ContextTooLong(BadRequest):
    """Raised if a request exceeds the model's context window or, if `is_asked` is true, the
    client's own limit. `total` and `most` are in tokens.
    """

    code = "context_length_exceeded"

    def __init__(self, total: int, most: int, *, is_asked: bool = False) -> None:
        by_client = gettext_noop(
            "This conversation is too long: it has about {total} tokens; the limit in "
            "'max_prompt_tokens' is {most}. Use less text, or start a new conversation."
        )
        by_model = gettext_noop(
            "This conversation is too long: it has about {total} tokens; the limit of this "
            "application’s model is {most}. Use less text, or start a new conversation."
        )
        text = by_client if is_asked else by_model
        super().__init__("The conversation is too long", text, total=total, most=most)
        if is_asked:
            self.code = "truncate_prompt_error"


class NotAuthenticated(QuickAppError):
    code = "unauthorized"
    http_status = 401
    text = gettext_noop("Send a valid API key in the Api-Key header or as a bearer token.")


class ApplicationNotFound(QuickAppError):
    code = "DeploymentNotFound"
    http_status = 404
    text = gettext_noop("There is no application named {name} that you may use.")

    def __init__(self, slug: str) -> None:
        super().__init__(name=repr(slug))


class PlaceNotFound(QuickAppError):
    code = "place_not_found"
    http_status = 400

    def __init__(self, slug: str) -> None:
        shown = slug if len(slug) <= 100 else f"{slug[:100]}…"
        text = gettext_noop("Unknown place: {name}. Leave it out, or correct it.")
        super().__init__(text, name=repr(shown))


class ApplicationBroken(QuickAppError):
    """Raised if an application's manifest cannot be used. `problems` contains readable messages."""

    code = "application_broken"

    def __init__(self, slug: str, problems: tuple[str, ...]) -> None:
        text = gettext_noop(
            "The application {name} has a manifest that cannot be used. "
            "Please contact your administrator."
        )
        super().__init__(text, name=repr(slug))
        self.slug = slug
        self.problems = problems


class Unsupported(QuickAppError):
    code = "unsupported"


class DeploymentNotFound(QuickAppError):
    code = "DeploymentNotFound"
    http_status = 404
    text = gettext_noop(
        "The AI model configured in this application could not be found. "
        "Please contact your administrator."
    )

    def __init__(self, deployment_id: str, text: str = "", **values: str | int) -> None:
        super().__init__(text, **values)
        self.deployment_id = deployment_id


class FileRefused(QuickAppError):
    code = "file_refused"
    http_status = 400


class FileMissing(FileRefused):
    code = "file_missing"
    http_status = 404


class FileChanged(FileRefused):
    code = "file_changed"
    http_status = 412


class FileTooLarge(FileRefused):
    code = "too_large"
    http_status = 413


class ModelFailed(QuickAppError):
    """Raised if a model service fails.

    - `status`: the status code of its response, or None if there was none or a stream failed.
    - `reason`: `status`, `timeout`, `connection`, `stream` or `unreadable`.
    - `code`, `kind`: the service's own error code and type.
    - `display`, `said`: the service's messages for users and for operators. `said` contains no
      credentials.
    - `is_transient`: True if a retry may succeed.
    - `retry_after`: the delay in seconds that the service specified before a retry, or None.
    - `is_blocked`: True if the network policy blocks the request. The text then names only the host.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        reason: str = "status",
        code: str = "",
        kind: str = "",
        display: str = "",
        said: str = "",
        is_transient: bool = False,
        retry_after: float | None = None,
        is_blocked: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.code = code
        self.kind = kind
        self.display = display
        self.said = said
        self.is_transient = is_transient
        self.retry_after = retry_after
        self.is_blocked = is_blocked

    @property
    def is_too_long(self) -> bool:
        """Return True if the model service may accept a shorter conversation."""
        return self.code in TOO_LONG_CODES or self.status == 413


class ServiceFailed(QuickAppError):
    """Raised if a service other than a model fails, for example if DIAL Core cannot return a file.

    - `status`: the status code of its response, or None if there was none.
    - `reason`: `status`, `timeout`, `connection` or `answer` (an unexpected response).
    - `said`: the service's own message for operators, without credentials.
    - `is_blocked`: True if the network policy blocks the request. The text then names only the host.

    The text is for the model and the log. The user's message depends on the status and the reason.
    """

    code = "service_failed"
    said = ""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        reason: str = "status",
        is_blocked: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.is_blocked = is_blocked


class CallsItself(QuickAppError):
    """Raised if an application calls itself or calls are nested too deeply. `chain` names the
    applications, with the outermost first and the rejected one last.
    """

    code = "application_cycle"

    def __init__(self, chain: tuple[str, ...], problem: str) -> None:
        text = gettext_noop("{problem}: {chain}. Please contact your administrator.")
        super().__init__(text, problem=problem, chain=" → ".join(chain))


class StepLimitReached(QuickAppError):
    code = "max_iterations"

    def __init__(self, limit: int) -> None:
        super().__init__(gettext_noop("Agent stopped due to max iterations."))
        self.limit = limit


class ToolsKeepFailing(QuickAppError):
    code = "tools_keep_failing"

    def __init__(self, turns: int) -> None:
        text = gettext_noop(
            "The answer was stopped because all tool calls failed {turns} times in a row. Please "
            "try again or contact your administrator if the issue persists."
        )
        super().__init__(text, turns=turns)


class Stopped(QuickAppError):
    """Raised if a tool fails and the run must stop. The text is the message of the tool's fallback
    strategy or else the tool's error.
    """

    code = "stopped"
    text = gettext_noop(
        "A tool encountered an error and the agent was stopped. "
        "Please try again or contact your administrator if the issue persists."
    )


class BudgetSpent(QuickAppError):
    """Raised if a budget is exhausted. It resets after `retry_after` seconds, or never if this is
    None.
    """

    code = "insufficient_quota"
    http_status = 429

    def __init__(self, text: str, retry_after: float | None = None, **values: str | int) -> None:
        super().__init__(text, **values)
        self.retry_after = retry_after


class BudgetReserved(BudgetSpent):
    """Raised if calls in progress have reserved the rest of a budget. Some of them may end within
    `retry_after` seconds.
    """

    code = "rate_limit_exceeded"


class TooManyRuns(QuickAppError):
    """Raised if a limit for concurrent runs is reached. Clients can retry after `retry_after`
    seconds.
    """

    code = "too_many_runs"
    http_status = 429
    retry_after = 2.0

    def __init__(self, text: str) -> None:
        super().__init__(gettext_noop("{problem} Please try again in a moment."), problem=text)


class ServerStopping(QuickAppError):
    """Raised if this process stops before an answer is complete. Clients can retry after
    `retry_after` seconds.
    """

    code = "server_stopping"
    http_status = 503
    retry_after = 1.0

    def __init__(self) -> None:
        super().__init__(gettext_noop("The server is restarting. Try again in a moment."))


class ReadOnly(QuickAppError):
    """Raised if a request writes while the installation is read-only for maintenance. Clients can
    retry after `retry_after` seconds.
    """

    code = "read_only"
    http_status = 503
    retry_after = 60.0

    def __init__(self) -> None:
        super().__init__(
            gettext_noop(
                "This site is read-only during maintenance. You can read everything, but not send "
                "or change anything. Please try again later."
            )
        )


class PersonalKeyRefused(QuickAppError):
    code = "personal_key_refused"
    http_status = 403

    def __init__(self, host: str) -> None:
        text = gettext_noop("{host} did not accept your key. Check it under “Connections”.")
        super().__init__(text, host=host)


class RateLimitReached(QuickAppError):
    """Raised if a rate limit is reached: `most` requests or tokens (`kind`) per minute. Clients can
    retry after `seconds` seconds.
    """

    code = "rate_limit_exceeded"
    http_status = 429

    def __init__(self, text: str, kind: str, most: int, seconds: float) -> None:
        self.kind = kind
        self.most = most
        self.retry_after = max(1, ceil(seconds))
        again = gettext_noop("{problem} Please try again in {seconds} s.")
        super().__init__(again, problem=text, seconds=self.retry_after)


class Refused(QuickAppError):
    """Raised if a request from the chat page is rejected. The page's WebSocket stays open. `code`
    is the machine-readable reason.
    """

    http_status = 400

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class NotAdmitted(Refused):
    http_status = 401


class Forbidden(Refused):
    http_status = 403


class Missing(Refused):
    http_status = 404


class Conflict(Refused):
    """Raised if a request from the chat page conflicts with the current state of an object."""

    http_status = 409


class Gone(Refused):
    http_status = 410


class TooLarge(Refused):
    http_status = 413


class OddType(Refused):
    http_status = 415


class TooOften(Refused):
    http_status = 429


class Failed(Refused):
    """Raised if a valid request from the chat page fails on the server."""

    http_status = 500


class Closing(Refused):
    http_status = 503


class NotStored(QuickAppError):
    code = "not_stored"
    text = gettext_noop(
        "The answer could not be stored, so it was interrupted. It will resume automatically."
    )


class InitializationIssue(Exception):
    """Raised if part of an application cannot be opened. The run continues without it.

    `section` is the heading of the issue in the report. If `is_hard` is true, the report is marked
    as failed.
    """

    def __init__(
        self,
        message: str,
        *,
        section: str = "Tool initialization",
        details: str = "",
        is_hard: bool = True,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.section = section
        self.details = details
        self.is_hard = is_hard


class ToolError(Exception):
    """Raised if a tool call fails. The message is the result of the call, and the model can react
    to it.

    If `is_lasting` is true, the same call would fail again. `retry_after` is the number of seconds
    until the service accepts a retry, or None if the service did not specify a delay.
    """

    has_answered = False
    """True if users have already seen part of the tool's answer, which a retry would show twice."""

    def __init__(
        self, text: str = "", *, is_lasting: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(text)
        self.is_lasting = is_lasting
        self.retry_after = retry_after


class InvalidParameter(ToolError):
    """Raised if an argument of a tool call is invalid. The message asks the model to correct it.
    Fallback strategies do not apply.
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"Parameter {parameter} is invalid: {problem}", is_lasting=True)
        self.parameter = parameter
        self.problem = problem


class NotApproved(ToolError):
    """Raised if a rule or a user denied a tool call, which was therefore not made."""

    is_lasting = True


class ToolTimedOut(ToolError):
    def __init__(self, tool: str, seconds: float) -> None:
        super().__init__(
            f"The tool call `{tool}` timed out after {seconds:g} seconds. "
            "Consider retrying with a smaller input or a simpler request."
        )


class LeaseLost(Exception):
    """Raised if another process has taken over, closed or deleted the run or corpus. This process
    must stop working on it.
    """


class EgressRefused(Exception):
    """Raised if an outgoing connection is blocked. The message names the host and explains how an
    operator can allow it.
    """
