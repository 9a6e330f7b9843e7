"""The site, which waits a second instead of thirty for a client that takes nothing."""

from __future__ import annotations

import sys

from quickapps_site import connections, serve

connections.STALLED_SECONDS = 1.0

if __name__ == "__main__":
    sys.exit(serve.main())
