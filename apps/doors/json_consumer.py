"""Defines the base class of JSON endpoints for the chat page's scripts and for API clients."""

from dataclasses import replace

from django.utils.translation import gettext

from apps.accounts.authentication import authenticate, read_headers
from apps.accounts.caller import Caller, ClientInfo, Credentials
from apps.doors.consumer import DoorConsumer
from apps.doors.origins import check_csrf
from apps.doors.refusals import RETRY_AFTER, Header
from apps.doors.sessions import caller_of_scope
from apps.errors import Closing, Failed, QuickAppError, ReadOnly, Refused
from apps.outages import outage_of
from apps.runs.explanations import error_text


class MethodNotAllowed(Refused):
    http_status = 405

    def __init__(self, text: str) -> None:
        super().__init__("method_not_allowed", text)


class JsonConsumer(DoorConsumer):
    """The base class of endpoints that respond with JSON. Subclasses implement `answer`, which can
    raise any `QuickAppError`.
    """

    methods = ("GET",)

    def is_denial(self, error: Exception) -> bool:
        return False  # The code that finds the conversation or the application records the denial.

    async def refuse_method(self) -> None:
        allowed = ", ".join(self.methods)
        raise MethodNotAllowed(gettext("Use the {method} method.").format(method=allowed))

    async def caller(self) -> Caller:
        """Return the caller identified by the API key or, if there is no key, by the browser
        session. Raises `NotAuthenticated` for an invalid key, and `Refused` for a browser without a
        session.
        """
        sent = read_headers(self.scope["headers"])
        if not sent.api_key and not sent.bearer:
            if self.scope["method"] != "GET":
                check_csrf(self.scope)
            return await caller_of_scope(self.scope)
        holder = await authenticate(self.scope)
        # The headers and credentials of the request are dropped, because a process that resumes the
        # answer would not have them.
        return replace(holder, client=ClientInfo(holder.client.locale), credentials=Credentials())

    async def send_error(self, error: Exception) -> None:
        if not isinstance(error, QuickAppError):
            raise error
        await self.refuse(error)

    async def refuse(self, error: QuickAppError) -> None:
        status = error.http_status
        body = {"error": {"message": error_text(error), "code": error.code}}
        await self.send_json(status, body, (retry_after(error),) if status == 503 else ())

    async def fail(self, error: Exception) -> None:
        if self.is_started:
            await super().fail(error)
        else:
            await self.refuse(as_refusal(error))


def retry_after(error: QuickAppError) -> Header:
    if isinstance(error, ReadOnly):
        return (b"retry-after", b"%d" % error.retry_after)
    return RETRY_AFTER


def as_refusal(error: Exception) -> Refused:
    """Convert an outage or an unexpected error to a `Refused`."""
    if outage := outage_of(error):
        return Closing(outage.code, outage.translated)
    return Failed("internal_error", gettext("Something went wrong. Try again."))
