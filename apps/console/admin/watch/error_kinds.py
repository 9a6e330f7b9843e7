"""Words the kinds of errors of model and tool calls, such as "status 429", for operators."""

from apps.agent.tool_titles import in_words

KINDS = {
    "connection": "Could not reach the service",
    "blocked": "Blocked by the network policy",
    "timeout": "The service timed out",
    "stream": "The service interrupted its response",
    "unreadable": "The service sent an unreadable response",
    "answer": "The service sent an unexpected response",
}
STATUSES = {
    400: "The service rejected the request",
    401: "The service rejected the key",
    402: "The service requires payment",
    403: "The service denied access",
    404: "The service does not know the model",
    413: "The request was too large",
    422: "The service rejected the request",
    429: "The service’s rate limit was reached",
}
FIXES = {
    "connection": (
        "The connection failed, or the service closed it without a response. Check the URL of the "
        "deployment, and whether the service is running."
    ),
    "blocked": (
        "The server may not contact the host of the deployment. If the host is on a private network, "
        "add it to the setting PRIVATE_NETWORK_ALLOWLIST."
    ),
    "timeout": "The service did not respond in time. Check whether the service is overloaded.",
    "stream": "The service stopped in the middle of its response.",
    "unreadable": "Check the provider and the URL of the deployment.",
    "answer": "Check the provider and the URL of the deployment.",
    "status 401": "Check the key of the deployment.",
    "status 403": "Check whether the key of the deployment may use the model.",
    "status 404": "Check the URL and the model name of the deployment.",
}
"""Advice for operators about errors for which the service sent no message."""


def error_words(kind: str) -> str:
    """Return an error kind in words, such as "Could not reach the service" for `connection` and
    "Budget spent" for `BudgetSpent`.
    """
    reason, _, status = kind.partition(" ")
    if not status.isdecimal():
        return KINDS.get(kind) or in_words(kind)
    otherwise = "The service failed" if int(status) >= 500 else "The service refused the request"
    words = KINDS.get(reason) or STATUSES.get(int(status), otherwise)
    return f"{words} (status {status})"


def with_attempts(words: str, attempts: int) -> str:
    """Append the number of attempts, such as "(4 attempts)" or "(status 429, 4 attempts)"."""
    if attempts == 1:
        return words
    before = f"{words[:-1]}, " if words.endswith(")") else f"{words} ("
    return f"{before}{attempts:,} attempts)"
