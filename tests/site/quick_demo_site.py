"""The site with a demo model that sends words without delay."""

from __future__ import annotations

import sys

from apps.demo import model
from tests.sites import quick_site

model.WORD_SECONDS = 0.001

if __name__ == "__main__":
    sys.exit(quick_site.main())
