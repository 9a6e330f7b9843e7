"""Converts errors to the formats of the JSON-RPC and HTTP+JSON bindings."""

from dataclasses import dataclass
from typing import Any

from apps.errors import QuickAppError
from apps.runs.failures import RunFailure

DOMAIN = "a2a-protocol.org"
OWN_DOMAIN = "quickapps"
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REFUSED = -32000
"""The JSON-RPC code for errors that the parameters did not cause, such as an exceeded limit. A2A
itself does not use this code.
"""
OF_PARAMETERS = frozenset((400, 413, 415, 422))
"""The HTTP statuses of errors that the parameters caused."""

STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    410: "FAILED_PRECONDITION",
    412: "FAILED_PRECONDITION",
    413: "OUT_OF_RANGE",
    415: "INVALID_ARGUMENT",
    422: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
"""Maps HTTP statuses to names in `google.rpc.Code`. All other statuses are INTERNAL."""


class ProtocolError(QuickAppError):
    """Raised for an error that the protocol defines."""

    rpc_code = INVALID_PARAMS
    http_status = 400
    status_name = "INVALID_ARGUMENT"
    """The error's name in `google.rpc.Code`."""
    code = "INVALID_PARAMS"


class InvalidParams(ProtocolError): ...


class InvalidRequest(ProtocolError):
    rpc_code, code = INVALID_REQUEST, "INVALID_REQUEST"


class NotJson(ProtocolError):
    rpc_code, code = PARSE_ERROR, "PARSE_ERROR"


class MethodNotFound(ProtocolError):
    rpc_code, code = METHOD_NOT_FOUND, "METHOD_NOT_FOUND"
    http_status, status_name = 404, "NOT_FOUND"


class TaskNotFound(ProtocolError):
    rpc_code, code = -32001, "TASK_NOT_FOUND"
    http_status, status_name = 404, "NOT_FOUND"
    text = "There is no task with this id, or it belongs to another caller."


class TaskNotCancelable(ProtocolError):
    rpc_code, code = -32002, "TASK_NOT_CANCELABLE"
    http_status, status_name = 409, "FAILED_PRECONDITION"
    text = "The task has ended and cannot be canceled."


class UnsupportedOperation(ProtocolError):
    rpc_code, code = -32004, "UNSUPPORTED_OPERATION"
    status_name = "UNIMPLEMENTED"


class ContentTypeNotSupported(ProtocolError):
    rpc_code, code = -32005, "CONTENT_TYPE_NOT_SUPPORTED"
    http_status = 415


class VersionNotSupported(ProtocolError):
    rpc_code, code = -32009, "VERSION_NOT_SUPPORTED"
    status_name = "UNIMPLEMENTED"


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """An error in a form that both bindings can encode."""

    rpc_code: int
    http_status: int
    status_name: str
    message: str
    reason: str
    """A machine-readable code."""
    domain: str = OWN_DOMAIN

    @property
    def is_defined(self) -> bool:
        """Return True if A2A itself defines the error."""
        return self.domain == DOMAIN

    @property
    def details(self) -> list[dict[str, Any]]:
        return [{"@type": ERROR_INFO, "reason": self.reason, "domain": self.domain}]

    def as_json_rpc(self, id: Any) -> dict[str, Any]:
        error = {"code": self.rpc_code, "message": self.message, "data": self.details}
        return {"jsonrpc": "2.0", "id": id, "error": error}

    def as_http(self) -> dict[str, Any]:
        return {
            "error": {
                "code": self.http_status,
                "status": self.status_name,
                "message": self.message,
                "details": self.details,
            }
        }


def protocol_error(error: ProtocolError) -> ErrorBody:
    return ErrorBody(
        error.rpc_code, error.http_status, error.status_name, str(error), error.code, DOMAIN
    )


def failure_body(found: RunFailure) -> ErrorBody:
    """Convert a failure to an error body."""
    of_client = INVALID_PARAMS if found.status in OF_PARAMETERS else REFUSED
    rpc_code = of_client if 400 <= found.status < 500 else INTERNAL_ERROR
    name = STATUS_NAMES.get(found.status, "INTERNAL")
    reason = "".join(c if c.isalnum() else "_" for c in found.code.upper()) or "ERROR"
    return ErrorBody(rpc_code, found.status, name, found.text, reason)
