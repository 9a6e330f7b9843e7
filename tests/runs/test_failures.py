from __future__ import annotations

import logging
import re

import pytest

from apps.errors import (
    ApplicationBroken,
    ApplicationNotFound,
    BadRequest,
    DeploymentNotFound,
    FileRefused,
    ModelFailed,
    NotAuthenticated,
    ServiceFailed,
    StepLimitReached,
    Stopped,
    ToolsKeepFailing,
    Unsupported,
)
from apps.runs.failures import failure
from tests.contract import proves
from tests.tables import each_row

ADMINISTRATOR = "Please contact your administrator."
NOT_FOUND = f"The AI model configured in this application could not be found. {ADMINISTRATOR}"
REJECTED = f"The request was rejected as invalid by the AI model service. {ADMINISTRATOR}"
TOO_LONG = (
    "The request exceeds the maximum context length of the AI model. "
    "Please shorten your messages and try again."
)
BROKEN = "The AI model service encountered an internal error. Please try again later."
UNUSABLE = f"The AI model service cannot be used at present. {ADMINISTRATOR}"
LIMITED = "The request was rate-limited by the AI model service. Please try again later."
CUT = "The AI model service failed while responding. Please try again later."
UNREADABLE = (
    "The AI model service sent a response that this application cannot read. " + ADMINISTRATOR
)
GENERIC = f"Something went wrong with the execution of your request. {ADMINISTRATOR}"


def model(**fields):
    return ModelFailed("for the log", **fields)


@proves("2.6", "T-07")
@each_row(
    ("error", "status", "text", "retryable"),
    [
        (model(status=400), 400, REJECTED, False),
        (
            model(status=401),
            401,
            f"Authentication failed when accessing the AI model. {ADMINISTRATOR}",
            False,
        ),
        (model(status=402), 500, UNUSABLE, False),
        (model(status=307), 500, UNUSABLE, False),
        (
            model(status=403),
            403,
            "You don't have permission to use the AI model configured in this application. "
            + ADMINISTRATOR,
            False,
        ),
        (model(status=404), 404, NOT_FOUND, False),
        (DeploymentNotFound("gpt"), 404, NOT_FOUND, False),
        (
            model(status=409),
            500,
            "The AI model service reported a temporary conflict. Please try again later.",
            True,
        ),
        (
            model(status=413),
            413,
            "The request payload is too large. "
            "Please reduce the size of your message or attachments.",
            False,
        ),
        (model(status=418), 500, GENERIC, False),
        (model(status=422), 422, REJECTED, False),
        (model(status=429), 500, LIMITED, True),
        (model(status=500), 500, BROKEN, True),
        (model(status=502), 500, BROKEN, True),
        (model(status=503), 500, BROKEN, True),
        (model(status=504), 500, BROKEN, True),
        (model(reason="stream", code="429"), 500, LIMITED, True),
        (model(reason="stream", code="400"), 400, REJECTED, False),
        (model(reason="stream", code="٣"), 500, CUT, True),
        (
            model(reason="timeout"),
            500,
            "The request to the AI model service timed out. Please try again later.",
            True,
        ),
        (
            model(reason="connection"),
            500,
            "Could not connect to the AI model service. "
            "Please check connectivity or contact your administrator.",
            False,
        ),
        (model(reason="stream"), 500, CUT, True),
        (model(reason="unreadable"), 500, UNREADABLE, False),
        (
            model(status=400, code="content_filter"),
            400,
            "The request was blocked by the content management policy. "
            "Please rephrase your message.",
            False,
        ),
        (model(status=400, code="context_length_exceeded"), 400, TOO_LONG, False),
        (model(reason="stream", code="truncate_prompt_error"), 500, TOO_LONG, False),
        (model(status=429, display="  Only today.  "), 500, "Only today.", False),
        (model(status=400, display="a" * 500), 400, "a" * 500, False),
        (model(status=400, display="a" * 501), 400, "a" * 499 + "…", False),
        (model(status=400, code="content_filter", display="Mine"), 400, "Mine", False),
        (StepLimitReached(15), 500, "Agent stopped due to max iterations.", False),
        (
            ToolsKeepFailing(2),
            500,
            "The answer was stopped because all tool calls failed 2 times in a row. "
            "Please try again or contact your administrator if the issue persists.",
            False,
        ),
        (
            Stopped(),
            500,
            "A tool encountered an error and the agent was stopped. "
            "Please try again or contact your administrator if the issue persists.",
            False,
        ),
        (Unsupported("There are no prompts."), 500, "There are no prompts.", False),
        (FileRefused("Too large."), 400, "Too large.", False),
        (
            ApplicationBroken("app", ("orchestrator: missing",)),
            500,
            f"The application 'app' has a manifest that cannot be used. {ADMINISTRATOR}",
            False,
        ),
        (RuntimeError("a secret"), 500, GENERIC, False),
        (ExceptionGroup("several", [model(status=404)]), 404, NOT_FOUND, False),
        (ExceptionGroup("several", [model(status=404), OSError()]), 500, GENERIC, False),
    ],
)
def test_what_a_failure_becomes(error, status, text, retryable, caplog):
    found = failure(error)

    assert re.fullmatch(r"[0-9a-f]{8}", found.reference)
    assert found.text == found.message == f"{text} (error reference: {found.reference})"
    assert (found.status, found.is_retryable) == (status, retryable)
    assert f"reference={found.reference}" in caplog.text


@proves("2.6")
@pytest.mark.parametrize(
    ("error", "code", "upstream_type"),
    [
        (
            model(status=400, code="content_filter", kind="moderation"),
            "content_filter",
            "moderation",
        ),
        (model(status=429), "500", ""),
        (model(status=403), "403", ""),
        (DeploymentNotFound("gpt"), "DeploymentNotFound", ""),
        (OSError(), "500", ""),
    ],
)
def test_codes_and_types_of_the_upstream_are_passed_on(error, code, upstream_type):
    found = failure(error)

    assert (found.code, found.upstream_type) == (code, upstream_type)


@proves("2.6")
@pytest.mark.parametrize(
    ("error", "status", "message", "text"),
    [
        (BadRequest("Invalid messages array", "Invalid: …"), 400, "Invalid messages array", "Invalid: …"),
        (ApplicationNotFound("x"), 404, None, "There is no application named 'x' that you may use."),
        (
            NotAuthenticated(),
            401,
            None,
            "Send a valid API key in the Api-Key header or as a bearer token.",
        ),
    ],
)  # fmt: skip
def test_what_the_request_is_to_blame_for_is_told_plainly(error, status, message, text, caplog):
    found = failure(error)

    assert (found.status, found.message, found.text) == (status, message or text, text)
    assert found.reference == ""
    assert caplog.text == ""


@proves("2.6")
def test_what_nobody_expected_is_logged_with_its_traceback(caplog):
    try:
        raise RuntimeError("boom")
    except RuntimeError as error:
        failure(error)

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "RuntimeError: boom" in caplog.text


def test_the_log_has_the_message_of_the_service_and_the_user_has_not(caplog):
    found = failure(model(status=400, said="temperature is too high"))

    assert "service_message='temperature is too high'" in caplog.text
    assert "temperature" not in found.text + found.message


@proves("2.6")
def test_what_was_expected_is_logged_in_one_line(caplog):
    failure(ModelFailed("first line\nFAKE LOG LINE", status=500))

    (record,) = caplog.records
    assert record.exc_info is None
    assert "\n" not in record.getMessage()


@proves("2.6")
@each_row(
    ("error", "status", "text", "retryable"),
    [
        (
            ServiceFailed("for the log", status=401),
            401,
            f"Authentication failed when accessing a required service. {ADMINISTRATOR}",
            False,
        ),
        (
            ServiceFailed("for the log", status=403),
            403,
            f"You don't have permission to access a required service. {ADMINISTRATOR}",
            False,
        ),
        (
            ServiceFailed("for the log", status=404),
            404,
            f"A required service or resource could not be found. {ADMINISTRATOR}",
            False,
        ),
        (
            ServiceFailed("for the log", status=429),
            500,
            "A required service is currently rate-limiting requests. Please try again later.",
            True,
        ),
        (
            ServiceFailed("for the log", status=503),
            500,
            "A required service encountered an internal error. Please try again later.",
            True,
        ),
        (
            ServiceFailed("for the log", reason="timeout"),
            500,
            "A request to a required service timed out. Please try again later.",
            True,
        ),
        (
            ServiceFailed("for the log", reason="connection"),
            500,
            "A network error occurred while contacting a required service. Please try again later.",
            True,
        ),
        (
            ServiceFailed("for the log", status=302),
            500,
            "An unexpected HTTP error occurred. Please try again or contact your administrator.",
            False,
        ),
        (
            ServiceFailed("for the log", reason="answer"),
            500,
            "An HTTP error occurred. Please try again or contact your administrator.",
            False,
        ),
    ],
)
def test_what_a_service_failed_with_is_told_in_words_for_people(error, status, text, retryable):
    found = failure(error)

    assert (found.status, found.is_retryable) == (status, retryable)
    assert found.text == f"{text} (error reference: {found.reference})"
