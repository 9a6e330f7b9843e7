"""The settings of the site, with texts from a folder of the test's own: `MARKED_TEXTS`."""

import os
from pathlib import Path

from quickapps_site.settings import *  # noqa: F403

LOCALE_PATHS = [Path(os.environ["MARKED_TEXTS"])]
