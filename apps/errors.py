"""Every exception that is raised on purpose.

* QuickAppError               ends the request; its text is fit for the person who asked
  - BadRequest                the request could not be read
    + ContextTooLong            what has to be sent is more than the model reads
  - NotAuthenticated          no valid credentials
  - ApplicationNotFound       no application of that name that the caller may use
  - PlaceNotFound             no predefined place of that name
  - EmbedderNotFound          no embeddings deployment of that name that the caller may use
  - ApplicationBroken         its manifest is invalid or names something that does not exist
  - Unsupported               the workspace has no such thing (prompts, skills, … without DIAL)
  - DeploymentNotFound        no deployment of that name
    + NotOfThatKind             there is one, of another kind: it makes vectors and is asked to chat
  - FileRefused               a file is too large, or not for the caller to write
    + FileMissing             there is none, or it is not the caller's
    + FileChanged             it was changed, deleted or created since the writer last saw it
    + FileTooLarge            it has too many bytes, or its owner has no room for it
    + FetchRefused            it is on the Internet and could not be fetched; `reason` says why
  - MemoryRefused             what should be remembered is not fit for that, or there is no room
    + MemoryMissing           the caller has no such memory
  - NoteRefused               what should be a note is not fit for that, or there is no room
    + NoteMissing             there is no such note in the caller's notes
    + NoteChanged             somebody else changed the note since the writer last saw it
  - ModelFailed               the model's service refused, broke off or timed out
  - PersonalKeyRefused        the service did not take the key of the person who asked
  - ServiceFailed             DIAL Core refused, broke off or timed out; no model's answer was asked
  - CallsItself               an application stands below itself, or too many below each other
  - StepLimitReached          the model kept calling tools
  - Stopped                   a tool failed, and a fallback strategy or the lack of one ended the run
  - BudgetSpent               nothing is left of a budget that the call of a model would count in
    + BudgetReserved              what is left is reserved by calls in progress, and may come back
  - RateLimitReached          so many requests or tokens were used in the last minute
  - TooManyRuns               as many requests are being answered as may be at once
  - Refused                   the page asked for something that cannot be done; `code` says why
    + NotAdmitted … Closing       the same, each with another status for programs
  - RunAbandoned              the process that worked on a run is gone
  - ReaderTooSlow             the client did not read the answer, whose backlog grew too large
  - NotStored                 the events of a run could not be stored
* InitializationIssue         a part of the application could not be opened; the run goes on without it
* ToolError                   a tool call failed; the run goes on; its text goes to the model
  - InvalidParameter          an argument is wrong; the model is told how to mend it
  - ToolTimedOut              it gave no result in time
  - NotApproved               a rule or a person does not let it be called
* LeaseLost                   a run belongs to this process no more, which may write nothing of it
* EgressRefused               an address that may not be contacted
"""

from collections.abc import Mapping
from math import ceil
from typing import Literal


def gettext_noop(text: str) -> str:
    """Marks a text to be translated where it is told; the text itself."""
    return text


GENERIC = gettext_noop(
    "Something went wrong with the execution of your request. Please contact your administrator."
)
"""The text for people after an unexpected failure."""

FetchReason = Literal[
    "size_limit", "ssrf_block", "redirect_cap", "timeout", "transport",
    "admin", "builder", "admin_allowlist", "builder_allowlist",
]  # fmt: skip
"""Why a file was not fetched; the last four name whose setting forbids it."""


TOO_LONG_CODES = frozenset({"context_length_exceeded", "truncate_prompt_error"})
"""Codes of a model's service that does not read so much."""


def filled(template: str, values: Mapping[str, str | int]) -> str:
    """Numbers have their thousands set apart."""
    # What has no values may have braces of its own.
    shown = {name: one if isinstance(one, str) else f"{one:,}" for name, one in values.items()}
    return template.format(**shown) if shown else template


class QuickAppError(Exception):
    """Ends a request. `code` names the kind for programs, `str(error)` is for the person.

    `http_status` is the one of an HTTP answer, unless a door's clients read another from it.
    `text` is the sentence of errors that always say the same. `template` is the text before the
    `values` are put in for `{name}`, by which it is translated.
    """

    code = "runtime_error"
    http_status = 500
    text = ""

    def __init__(self, text: str = "", **values: str | int) -> None:
        self.template = text or self.text
        self.values: Mapping[str, str | int] = values
        super().__init__(filled(self.template, values))


class BadRequest(QuickAppError):
    """`message` is the summary for logs, `display` what the person reads."""

    code = "invalid_request_error"
    http_status = 400

    def __init__(self, message: str, display: str = "", **values: str | int) -> None:
        super().__init__(display or message, **values)
        self.message = message


class ContextTooLong(BadRequest):
    """Numbers are tokens; `is_asked` if the client set the limit."""

    code = "context_length_exceeded"

    def __init__(self, total: int, most: int, *, is_asked: bool = False) -> None:
        by_client = gettext_noop(
            "This conversation is too long: it takes about {total} tokens, and 'max_prompt_tokens' "
            "allows {most}. Ask with less text, or begin a new conversation."
        )
        by_model = gettext_noop(
            "This conversation is too long: it takes about {total} tokens, and the model of this "
            "application reads {most}. Ask with less text, or begin a new conversation."
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
        text = gettext_noop("There is no place named {name} here. Leave it out, or correct it.")
        super().__init__(text, name=repr(shown))


class EmbedderNotFound(ApplicationNotFound):
    text = gettext_noop("There is no embeddings deployment named {name} that you may use.")


class ApplicationBroken(QuickAppError):
    """`problems` has one readable line for each mistake."""

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


class NotRegistered(Unsupported):
    """There is no program of that name here."""


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


class NotOfThatKind(DeploymentNotFound):
    """`kind` is the kind that was wanted."""

    def __init__(self, deployment_id: str, kind: str) -> None:
        text = gettext_noop(
            "The deployment {name} configured in this application is no {kind} model. "
            "Please contact your administrator."
        )
        super().__init__(deployment_id, text, name=repr(deployment_id), kind=kind)
        self.kind = kind


class FileRefused(QuickAppError):
    code = "file_refused"
    http_status = 400


class FileMissing(FileRefused): ...


class FileChanged(FileRefused): ...


class FileTooLarge(FileRefused): ...


class FetchRefused(FileRefused):
    def __init__(self, reason: FetchReason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class MemoryRefused(QuickAppError):
    """`field` names what is wrong with a memory, "" for the memories as a whole."""

    code = "memory_refused"
    http_status = 400

    def __init__(self, field: str, text: str, **values: str | int) -> None:
        super().__init__(text, **values)
        self.field = field


class MemoryMissing(MemoryRefused): ...


class NoteRefused(QuickAppError):
    """`field` names what is wrong with a note, "" for the notes as a whole."""

    code = "note_refused"
    http_status = 400

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class NoteMissing(NoteRefused): ...


class NoteChanged(NoteRefused): ...


class ModelFailed(QuickAppError):
    """The model's service failed.

    `status` is the HTTP status it answered with (None: no answer, or a failure in mid-stream),
    `reason` one of `status`, `timeout`, `connection`, `stream`, `unreadable`; `code` and `kind` are the
    upstream's own error code and type, `display` its text for people, `said` its error message for
    operators, without credentials. The same question may do better in a moment if it `is_transient`,
    after `retry_after` seconds if the service named them.
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

    @property
    def is_too_long(self) -> bool:
        """Whether a shorter conversation may be answered."""
        return self.code in TOO_LONG_CODES or self.status == 413


class ServiceFailed(QuickAppError):
    """A service that a run stands on failed: DIAL Core, asked for a file, a prompt, metadata, ….

    `status` is the HTTP status it answered with (None: no answer), `reason` one of `status`,
    `timeout`, `connection`, `answer` (not what was to be expected). The text is for a model and
    for the log; what the person is told depends on the status and the reason. `said` is the
    service's own error message for operators, without credentials.
    """

    code = "service_failed"
    said = ""

    def __init__(self, message: str, *, status: int | None = None, reason: str = "status") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class CallsItself(QuickAppError):
    """`chain` are the names of applications, the outermost first, the refused one last."""

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
            "The answer was ended because all calls of tools failed {turns} times in a row. "
            "Please try again or contact your administrator if the issue persists."
        )
        super().__init__(text, turns=turns)


class Stopped(QuickAppError):
    """Where no strategy applies, the text is the tool's own."""

    code = "stopped"
    text = gettext_noop(
        "A tool encountered an error and the agent was stopped. "
        "Please try again or contact your administrator if the issue persists."
    )


class BudgetSpent(QuickAppError):
    """`retry_after`: seconds until the budget renews; None for that of a run, which never does."""

    code = "insufficient_quota"
    http_status = 429

    def __init__(self, text: str, retry_after: float | None = None, **values: str | int) -> None:
        super().__init__(text, **values)
        self.retry_after = retry_after


class BudgetReserved(BudgetSpent):
    """Calls in progress hold back what is left; `retry_after`: seconds until some of them may be over."""

    code = "rate_limit_exceeded"


class TooManyRuns(QuickAppError):
    """`retry_after`: seconds, after which there may be room."""

    code = "too_many_runs"
    http_status = 429
    retry_after = 2.0

    def __init__(self, text: str) -> None:
        super().__init__(gettext_noop("{problem} Please try again in a moment."), problem=text)


class PersonalKeyRefused(QuickAppError):
    code = "personal_key_refused"
    http_status = 403

    def __init__(self, host: str) -> None:
        text = gettext_noop("{host} did not accept your key. Check it under “Connections”.")
        super().__init__(text, host=host)


class RateLimitReached(QuickAppError):
    """So many as `most` of a `kind`, requests or tokens, are in a minute; seconds until there is room."""

    code = "rate_limit_exceeded"
    http_status = 429

    def __init__(self, text: str, kind: str, most: int, seconds: float) -> None:
        self.kind = kind
        self.most = most
        self.retry_after = max(1, ceil(seconds))
        again = gettext_noop("{problem} Please try again in {seconds} s.")
        super().__init__(again, problem=text, seconds=self.retry_after)


class Refused(QuickAppError):
    """The connection of the page goes on."""

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


class MethodNotAllowed(Refused):
    http_status = 405

    def __init__(self, text: str) -> None:
        super().__init__("method_not_allowed", text)


class Conflict(Refused):
    """Not now, or not beside what is there already."""

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
    """What failed is not the client's fault."""

    http_status = 500


class Closing(Refused):
    http_status = 503


class RunAbandoned(QuickAppError):
    code = "run_abandoned"
    text = gettext_noop("The server stopped while it was answering. Please ask again.")


class ReaderTooSlow(QuickAppError):
    code = "reader_too_slow"
    text = gettext_noop("The answer was given up because it was not read. Please ask again.")


class NotStored(QuickAppError):
    code = "not_stored"
    text = gettext_noop(
        "The answer could not be stored, so it was stopped. Please ask again in a moment."
    )


class InitializationIssue(Exception):
    """A part of an application could not be opened.

    `section` is the heading it is reported under; a hard issue marks the report as failed.
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
    """A tool call failed in a way the model can react to; the message is its result.

    The same call would fail again if it `is_lasting`; `retry_after` is how many seconds the
    service wants to be left alone, if it said so. A call that `has_answered` was shown in part:
    another attempt would say it twice.
    """

    has_answered = False

    def __init__(
        self, text: str = "", *, is_lasting: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(text)
        self.is_lasting = is_lasting
        self.retry_after = retry_after


class InvalidParameter(ToolError):
    """An argument is wrong: fallback strategies do not apply, the model is told how to mend it."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"Parameter {parameter} is invalid: {problem}", is_lasting=True)
        self.parameter = parameter
        self.problem = problem


class NotApproved(ToolError):
    """A call that was not made, because a rule or a person does not want it."""

    is_lasting = True


class ToolTimedOut(ToolError):
    def __init__(self, tool: str, seconds: float) -> None:
        super().__init__(
            f"The tool call `{tool}` timed out after {seconds:g} seconds. "
            "Consider retrying with a smaller input or a simpler request."
        )


class LeaseLost(Exception):
    """Another process has taken over, closed or deleted a run or a corpus, so this one stops."""


class EgressRefused(Exception):
    """An outgoing connection was refused before it was made; the text names host and remedy."""
