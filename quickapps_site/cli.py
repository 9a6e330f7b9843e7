"""Implements the `quickapps` command of an installed package."""

import argparse
import os
import sys
from importlib.metadata import version

from django.core.management import execute_from_command_line

from quickapps_site import serve

DESCRIPTION = "A platform for LLM agents. Its settings are environment variables."


def main() -> int:
    if sys.argv[1:2] == ["manage"]:  # Django reads all following arguments, including its `--help`.
        return manage(sys.argv[2:])
    if sys.argv[1:2] == ["diagnose"]:
        return manage(sys.argv[1:])
    parser = argparse.ArgumentParser("quickapps", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=version("quickapps"))
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="serve the site on HOST and PORT")
    serving.add_argument(
        serve.PREPARE, action="store_true", help="prepare the database and the static files first"
    )
    roles = serving.add_mutually_exclusive_group()
    roles.add_argument("--web", action="store_true", help="run no background jobs")
    roles.add_argument("--worker", action="store_true", help="run only background jobs")
    commands.add_parser(
        "manage", help="run a Django command; `quickapps manage help` lists all commands"
    )
    commands.add_parser(
        "diagnose", help="write a report about this installation, without secrets, to one file"
    )
    parser.parse_args()
    return serve.main(sys.argv[2:])


def manage(arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    execute_from_command_line(["quickapps manage", *arguments])
    return 0
