"""The site, which stops endless code only after a test has seen it."""

from __future__ import annotations

import sys

from apps.capabilities.interpreter.sandbox import workers
from tests.sites import quick_site

workers.CODE_SECONDS = 60.0

if __name__ == "__main__":
    sys.exit(quick_site.main())
