"""Checks content, stored files and administrators before the site serves requests, and logs
problems.
"""

import logging

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from apps.accounts.sign_up import first_run
from apps.catalog.application_files import managed_files
from apps.catalog.content.installed import installed_content
from apps.catalog.content.review import missing_problems
from apps.workspace.local import installation
from quickapps_site.server.graceful_server import url_host

logger = logging.getLogger(__name__)


def check_predefined_content() -> None:
    """Read predefined content and managed applications, so that their problems are logged at
    startup.

    Raises `ImproperlyConfigured` if a whole layer of content is missing.
    """
    try:
        missing = missing_problems(installed_content())
        managed_files.load_at_start()
    except DatabaseError as error:
        logger.error("Failed to read predefined content from the database: %s", error)
        return
    finally:
        connection.close()
    if missing:
        raise ImproperlyConfigured(f"Predefined content: {' '.join(missing)}")


def check_installation() -> None:
    """Log an error for each resource that this process does not share with the installation's other
    processes.
    """
    try:
        for problem in installation.register_process():
            logger.error("%s", problem)
    except DatabaseError:
        return  # There are no tables yet, which the log already reports.
    except OSError as error:
        logger.error("Failed to access the stored files: %s", error)
    finally:
        connection.close()


def offer_setup(host: str, port: int) -> None:
    """If there is no administrator, log the URL and the token for creating the first one."""
    try:
        token = first_run.create_setup_token()
    except DatabaseError:
        return  # There are no tables yet, which the log already reports.
    finally:
        connection.close()
    if token:
        page = f"http://{url_host(host)}:{port}/setup/"
        logger.warning("There is no administrator yet: open %s and enter the token %s", page, token)
