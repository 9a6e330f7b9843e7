"""The site, which would wait for answers much longer than a test does when it is told to stop."""

from __future__ import annotations

import sys

from quickapps_site import serve, server

server.GRACE_SECONDS = 600.0

if __name__ == "__main__":
    sys.exit(serve.main())
