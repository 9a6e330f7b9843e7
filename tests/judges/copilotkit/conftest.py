from __future__ import annotations

from tests.browser.conftest import browser as browser
