"""An HTTP request of a script or a program: its caller, and errors as JSON."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.utils.translation import gettext

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.accounts.sender_headers import read_headers
from apps.chat.access import caller_of_scope
from apps.chat.origins import check_csrf
from apps.chat.protocol import to_json
from apps.doors.consumer import RETRY_AFTER, Header, HttpConsumer
from apps.errors import Closing, Failed, MethodNotAllowed, QuickAppError, Refused
from apps.outages import outage_of
from apps.runs.error_texts import error_text

JSON = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))


class JsonConsumer(HttpConsumer):
    """Subclasses write `answer`, which may raise any `QuickAppError`."""

    method: ClassVar[str] = "GET"

    async def handle(self) -> None:
        try:
            if self.scope["method"] != self.method:
                raise MethodNotAllowed(gettext("Use {method}.").format(method=self.method))
            await self.answer()
        except QuickAppError as error:
            await self.refuse(error)

    async def answer(self) -> None:
        raise NotImplementedError

    async def caller(self) -> Caller:
        """The holder of the API key, or the visitor whose session it is.

        Raises `NotAuthenticated` for a key that is not valid, and `Refused`.
        """
        sent = read_headers(self.scope["headers"])
        if not sent.api_key and not sent.bearer:
            if self.method != "GET":
                check_csrf(self.scope)
            return await caller_of_scope(self.scope)
        holder = await authenticate(self.scope)
        # Nothing else of the request: a process that goes on with the answer has not got it.
        return Caller(
            holder.bucket,
            "key",
            key_user_id=holder.key_user_id,
            is_own_key=holder.is_own_key,
            team=holder.team,
            scope=holder.scope,
            version=holder.version,
            locale=holder.locale,
            requests_per_minute=holder.requests_per_minute,
            tokens_per_minute=holder.tokens_per_minute,
        )

    async def send_json(
        self, status: int, body: dict[str, Any], headers: Iterable[Header] = ()
    ) -> None:
        await self.respond(status, to_json(body).encode(), (*JSON, *headers))

    async def refuse(self, error: QuickAppError) -> None:
        status = error.http_status
        body = {"error": {"message": error_text(error), "code": error.code}}
        await self.send_json(status, body, (RETRY_AFTER,) if status == 503 else ())

    async def fail(self, error: Exception) -> None:
        if self.is_started:
            await super().fail(error)
        else:
            await self.refuse(refusal_of(error))


def refusal_of(error: Exception) -> Refused:
    """Return the message for an error that the client did not cause."""
    if outage := outage_of(error):
        return Closing(outage.code, outage.translated)
    return Failed("internal_error", gettext("Something went wrong. Try again."))
