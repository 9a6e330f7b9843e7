"""Settings that are not read from the environment, for sites in other processes."""

import json


def with_constants(**values: object) -> dict[str, str]:
    """Return the environment variables of a site in which these settings have these values."""
    return {
        "DJANGO_SETTINGS_MODULE": "tests.sites.changed_settings",
        "CHANGED_SETTINGS": json.dumps(values),
    }
