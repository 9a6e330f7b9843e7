"""The site with timeouts of a second and a limit of a few connections."""

from __future__ import annotations

import sys

from quickapps_site.server import connections
from tests.sites import quick_site

MOST = 12

connections.STALLED_SECONDS = 1.0
connections.HEAD_SECONDS = 1.0
connections.CONNECTIONS = MOST

if __name__ == "__main__":
    sys.exit(quick_site.main())
