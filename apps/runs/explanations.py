"""Creates the texts that explain errors to users, including errors of model services."""

from typing import NamedTuple

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from apps.errors import GENERIC, ModelFailed, QuickAppError, ServiceFailed, filled

LONGEST_UPSTREAM_TEXT = 500


class Explanation(NamedTuple):
    text: str
    is_retryable: bool = False


NOT_FOUND = Explanation(
    gettext_noop(
        "The AI model configured in this application could not be found. "
        "Please contact your administrator."
    )
)
REJECTED = Explanation(
    gettext_noop(
        "The request was rejected as invalid by the AI model service. "
        "Please contact your administrator."
    )
)
TOO_LONG = Explanation(
    gettext_noop(
        "The request exceeds the maximum context length of the AI model. "
        "Please shorten your messages and try again."
    )
)
UNUSABLE = Explanation(
    gettext_noop(
        "The AI model service cannot be used at present. Please contact your administrator."
    )
)
BY_CODE = {
    "content_filter": Explanation(
        gettext_noop(
            "The request was blocked by the content management policy. Please rephrase your message."
        )
    ),
    "context_length_exceeded": TOO_LONG,
    "truncate_prompt_error": TOO_LONG,
}
BY_STATUS = {
    400: REJECTED,
    401: Explanation(
        gettext_noop(
            "Authentication failed when accessing the AI model. Please contact your administrator."
        )
    ),
    402: UNUSABLE,
    403: Explanation(
        gettext_noop(
            "You don't have permission to use the AI model configured in this application. "
            "Please contact your administrator."
        )
    ),
    404: NOT_FOUND,
    409: Explanation(gettext_noop("The AI model service reported a temporary conflict."), True),
    413: Explanation(
        gettext_noop(
            "The request payload is too large. Please reduce the size of your message or attachments."
        )
    ),
    422: REJECTED,
    429: Explanation(gettext_noop("The request was rate-limited by the AI model service."), True),
}
BROKEN = Explanation(gettext_noop("The AI model service encountered an internal error."), True)
BY_REASON = {
    "timeout": Explanation(gettext_noop("The request to the AI model service timed out."), True),
    "connection": Explanation(
        gettext_noop(
            "Could not connect to the AI model service. "
            "Please check connectivity or contact your administrator."
        )
    ),
    "stream": Explanation(gettext_noop("The AI model service failed while responding."), True),
    "unreadable": Explanation(
        gettext_noop(
            "The AI model service sent a response that this application cannot read. "
            "Please contact your administrator."
        )
    ),
}
SERVICE_BY_STATUS = {
    401: Explanation(
        gettext_noop(
            "Authentication failed when accessing a required service. "
            "Please contact your administrator."
        )
    ),
    403: Explanation(
        gettext_noop(
            "You don't have permission to access a required service. Please contact your administrator."
        )
    ),
    404: Explanation(
        gettext_noop(
            "A required service or resource could not be found. Please contact your administrator."
        )
    ),
    429: Explanation(gettext_noop("A required service is currently rate-limiting requests."), True),
}
SERVICE_BROKEN = Explanation(
    gettext_noop("A required service encountered an internal error."), True
)
SERVICE_ODD_STATUS = Explanation(
    gettext_noop(
        "An unexpected HTTP error occurred. Please try again or contact your administrator."
    )
)
SERVICE_BY_REASON = {
    "timeout": Explanation(gettext_noop("A request to a required service timed out."), True),
    "connection": Explanation(
        gettext_noop("A network error occurred while contacting a required service."), True
    ),
    "answer": Explanation(
        gettext_noop("An HTTP error occurred. Please try again or contact your administrator.")
    ),
}


def service_explanation(error: ServiceFailed) -> Explanation:
    if error.reason in SERVICE_BY_REASON:
        return SERVICE_BY_REASON[error.reason]
    if error.status is not None and error.status >= 500:
        return SERVICE_BROKEN
    return SERVICE_BY_STATUS.get(error.status or 0, SERVICE_ODD_STATUS)


def model_explanation(error: ModelFailed, status: int | None) -> Explanation:
    """Return the explanation for a failed model call: the service's own text for users, or else a
    text for the error's code, status or reason.
    """
    said = error.display.strip()
    if said:
        return Explanation(shorten_text(said))
    if error.code in BY_CODE:
        return BY_CODE[error.code]
    if status is not None and status >= 500:
        return BROKEN
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status is not None and 300 <= status < 400:
        return UNUSABLE
    return BY_REASON.get(error.reason, Explanation(GENERIC))


def shorten_text(text: str) -> str:
    if len(text) <= LONGEST_UPSTREAM_TEXT:
        return text
    return text[: LONGEST_UPSTREAM_TEXT - 1] + "…"


def error_text(error: QuickAppError) -> str:
    """Return the error's text in the current language. `str(error)` is always English."""
    values = {
        name: gettext(one) if isinstance(one, str) else number_format(one, force_grouping=True)
        for name, one in error.values.items()
    }
    return filled(gettext(error.template), values)
