"""Reads environment variables. Instead of `NAME`, the variable `NAME_FILE` can be set to the path
of a file that contains the value.

Orchestrators mount secrets as files, because files are not visible to other processes or in dumps
of the environment.
"""

import logging
import os
from pathlib import Path

from django.conf import settings

logger = logging.getLogger(__name__)


class WrongVariable(ValueError):
    """Raised if an environment variable cannot be used. The message contains its name, but not its
    value.
    """


def read_variable(name: str) -> str | None:
    """Return the value without surrounding whitespace, or None if neither `NAME` nor `NAME_FILE` is
    set.

    The file is read on each call. Raises `WrongVariable` if both are set, or if the file is
    missing, empty or not UTF-8.
    """
    value = os.environ.get(name)
    file = os.environ.get(f"{name}_FILE", "").strip()
    if not file:
        return None if value is None else value.strip()
    if value and value.strip():
        raise WrongVariable(f"{name} and {name}_FILE are both set; set only one of them.")
    try:
        content = Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise WrongVariable(f"{name}_FILE: {file} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise WrongVariable(f"{name}_FILE: {file} is not UTF-8; save it as UTF-8.") from None
    if not content:
        raise WrongVariable(f"{name}_FILE: {file} is empty; write the value into it.")
    return content


def is_in_file(name: str) -> bool:
    return bool(os.environ.get(f"{name}_FILE", "").strip())


def current_setting(name: str) -> str:
    """Return a setting. If its value comes from a file, read the file again.

    If the file can no longer be read, log a warning, and return the value from the start of the
    process.
    """
    return latest(name, str(getattr(settings, name)))


def latest(name: str, known: str) -> str:
    """Return the value in the file of `NAME_FILE`, or `known` if there is no file or it cannot be
    read.
    """
    if not is_in_file(name):
        return known
    try:
        return read_variable(name) or ""
    except WrongVariable as error:
        logger.warning("%s Still using the value that was read at startup.", error)
        return known
