"""The settings of the site with the values in `CHANGED_SETTINGS`, for sites in other processes."""

import json
import os

from quickapps_site.settings import *  # noqa: F403

globals().update(json.loads(os.environ["CHANGED_SETTINGS"]))
