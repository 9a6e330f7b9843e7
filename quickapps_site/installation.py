"""Locates code, templates, predefined content and data, in a checkout or in an installed wheel."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
"""The folder with the Python packages: the checkout, or site-packages."""
IS_CHECKOUT = (ROOT / "pyproject.toml").is_file()
RESOURCES = ROOT if IS_CHECKOUT else PACKAGE
"""The folder with `templates` and `predefined`, which the wheel contains below `quickapps_site`."""


def default_data_folder() -> Path:
    """Return the default of DATA_DIR: `var` in a checkout, or a folder in the user's home.

    Raises `ImproperlyConfigured` if the user has no home directory.
    """
    if IS_CHECKOUT:
        return ROOT / "var"
    try:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    except RuntimeError:
        raise ImproperlyConfigured(
            "The user has no home directory; set DATA_DIR to a directory for the data."
        ) from None
    return Path(data) / "quickapps"
