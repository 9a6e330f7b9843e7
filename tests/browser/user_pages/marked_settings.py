"""The settings of the site, with translations from the test's folder `MARKED_TEXTS`."""

import os
from pathlib import Path

from quickapps_site.settings import *  # noqa: F403

LOCALE_PATHS = [Path(os.environ["MARKED_TEXTS"])]
