"""Parses curl commands. Tools ignore the options in `FLAGS`, which have no value, and the options
in `VALUED`, which have one.
"""

import re
import shlex
from argparse import ArgumentError, ArgumentParser, Namespace
from typing import NoReturn

from apps.console.studio.tool_sources.source_texts import SourceInvalid

LONGEST_COMMAND = 100_000
FLAGS = (
    "-s",
    "-S",
    "-L",
    "-k",
    "-i",
    "-v",
    "-f",
    "-g",
    "-#",
    "--silent",
    "--show-error",
    "--location",
    "--insecure",
    "--include",
    "--verbose",
    "--fail",
    "--compressed",
    "--globoff",
    "--http1.1",
    "--http2",
    "--fail-with-body",
    "--no-progress-meter",
    "--location-trusted",
)
VALUED = (
    "-o",
    "-m",
    "-A",
    "-e",
    "-b",
    "-x",
    "-c",
    "-w",
    "--output",
    "--max-time",
    "--user-agent",
    "--referer",
    "--cookie",
    "--proxy",
    "--connect-timeout",
    "--retry",
    "--cookie-jar",
    "--write-out",
    "--cacert",
    "--cert",
    "--key",
    "--max-redirs",
)
DATA = (
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-ascii",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "--form-string",
)


class CommandParser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SourceInvalid(f"The command cannot be read: {message}.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise SourceInvalid("The command cannot be read.")


def make_parser() -> CommandParser:
    parser = CommandParser("curl", add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("addresses", nargs="*")
    parser.add_argument("--url", action="append", default=[])
    parser.add_argument("-X", "--request")
    parser.add_argument("-H", "--header", action="append", default=[])
    parser.add_argument("-u", "--user")
    parser.add_argument("--oauth2-bearer", dest="bearer")
    parser.add_argument("-G", "--get", action="store_true")
    parser.add_argument("-I", "--head", action="store_true")
    for name in DATA:
        parser.add_argument(name, action="append", default=[], dest=f"data{name}")
    parser.add_argument(*FLAGS, action="store_true", dest="ignored_flags")
    parser.add_argument(*VALUED, dest="ignored_values")
    return parser


def read_command(text: str) -> Namespace:
    if len(text) > LONGEST_COMMAND:
        raise SourceInvalid(
            f"The command is too long; the limit is {LONGEST_COMMAND:,} characters."
        )
    text = re.sub(r"[\\^]\r?\n", " ", text.strip()).removeprefix("$ ")
    text = re.sub(r"\$(?=')", "", text)  # Bash's $'…'.
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SourceInvalid(f"The command cannot be read: {str(error).lower()}.") from None
    if not words or words[0].rpartition("/")[2].removesuffix(".exe") != "curl":
        raise SourceInvalid("This is not a curl command. It must begin with curl.")
    for word in words:
        if word in {"|", "&&", ";", ">", "||", "&"}:
            words = words[: words.index(word)]
            break
    try:
        return make_parser().parse_args(words[1:])
    except ArgumentError as error:
        raise SourceInvalid(f"The command cannot be read: {error}.") from None
