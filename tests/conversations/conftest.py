"""Grace, and the browser in which she has signed in."""

from tests.chat.conftest import browser, grace  # noqa: F401
