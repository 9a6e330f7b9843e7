"""Defines the database models for the local workspace: deployments, secrets, stored files and MCP
servers.
"""

import json
import re
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from apps.manifest.secrets import NAME
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.corpora.corpus import ChunkTerms as ChunkTerms
from apps.workspace.local.corpora.corpus import Corpus as Corpus
from apps.workspace.local.corpora.corpus import CorpusChunk as CorpusChunk
from apps.workspace.local.corpora.corpus import CorpusDocument as CorpusDocument
from apps.workspace.local.deployments.deployment import Deployment as Deployment
from apps.workspace.local.deployments.personal_keys import PersonalKey as PersonalKey
from apps.workspace.local.installation import Installation as Installation
from apps.workspace.local.memories.remembered import MemoryCollection as MemoryCollection
from apps.workspace.local.memories.remembered import MemoryMerge as MemoryMerge
from apps.workspace.local.memories.remembered import MemorySettings as MemorySettings
from apps.workspace.local.memories.remembered import StoredMemory as StoredMemory
from apps.workspace.local.secrets.field import SecretField
from apps.workspace.local.secrets.servers import MOST_SERVERS, read_server
from apps.workspace.local.secrets.vault import reference_problem
from apps.workspace.local.tools.description import ToolDescription as ToolDescription
from apps.workspace.local.tools.tool_accounts import RegisteredClient as RegisteredClient
from apps.workspace.local.tools.tool_accounts import ToolAccount as ToolAccount
from apps.workspace.versions import VersionedRow, watch_versions


class Secret(VersionedRow):
    """A named credential to which manifests and predefined content refer.

    It is sent only to its `servers`. Otherwise, an editor of an application could have it sent to
    any server.
    """

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[
            RegexValidator(
                re.compile(rf"^(?:{NAME.pattern})\Z"),
                "Use only letters, digits, hyphens and underscores.",
            )
        ],
        help_text='The name that manifests use: {"$secret": "name"}.',
    )
    value = SecretField()
    is_in_vault = models.BooleanField(
        "in Vault",
        default=False,
        help_text="The value is a path in Vault, such as secret/data/apps/tracking#token.",
    )
    description = models.TextField(
        blank=True, help_text=("The purpose of the secret and where it comes from.")
    )
    servers = models.JSONField(default=list, blank=True)
    is_for_any_server = models.BooleanField(
        "for any server",
        default=False,
        help_text=(
            "If this setting is on, any user who can edit applications could read the secret by "
            "sending it to their own server."
        ),
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    rotated_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("name",)
        permissions = (("send_secret_anywhere", "Can allow secrets to be sent to any server"),)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        problems = {}
        try:
            self.servers = read_servers(self.servers)
        except ValueError as error:
            problems["servers"] = str(error)
        else:
            if not self.servers and not self.is_for_any_server:
                problems["servers"] = "Enter the servers that the secret can be sent to."
            if self.servers and self.is_for_any_server:
                problems["is_for_any_server"] = "Enter servers or allow all of them, not both."
        if problem := header_value_problem(self.value or ""):
            problems["value"] = f"The secret is sent in headers, and {problem}"
        elif self.is_in_vault and (problem := reference_problem(self.value or "")):
            problems["value"] = problem
        if problems:
            raise ValidationError(problems)


def read_servers(servers: object) -> list[str]:
    """Return the servers of a secret as origins, without duplicates. Raises ValueError if the list
    or a server is invalid.
    """
    if not isinstance(servers, list) or not all(isinstance(server, str) for server in servers):
        raise ValueError("Enter a list of servers.")
    if len(servers) > MOST_SERVERS:
        raise ValueError(f"Too many servers; the limit is {MOST_SERVERS}.")
    return list(dict.fromkeys(map(read_server, servers)))


class StoredFile(models.Model):
    """A file in a bucket. The storage contains its content under `storage_name`."""

    bucket = models.CharField(max_length=100)
    name = models.CharField(max_length=500, help_text="The path inside the bucket, decoded.")
    storage_name = models.CharField(max_length=300)
    content_type = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    etag = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    hidden_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="The time at which the owner deleted the conversation that contains the file; empty for all other files.",
    )

    class Meta:
        ordering = ("bucket", "name")
        constraints = (
            models.UniqueConstraint(fields=("bucket", "name"), name="one_file_of_a_name"),
        )

    def __str__(self) -> str:
        return f"files/{self.bucket}/{self.name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        with watch_versions(self):
            super().save(*args, **kwargs)


PUBLIC = "public"
"""The bucket that everyone may read and only operators may write, as in DIAL. Access to
applications' files in it is restricted.
"""


class SharedFiles(models.Manager["SharedFile"]):
    def get_queryset(self) -> models.QuerySet["SharedFile"]:
        return super().get_queryset().filter(bucket=PUBLIC)


class SharedFile(StoredFile):
    """A file that operators stored in the public bucket. Everyone may read it, unless it was
    uploaded for an application.
    """

    objects: ClassVar[SharedFiles] = SharedFiles()

    class Meta:
        proxy = True
        ordering = ("name",)


class FormerBucket(models.Model):
    """A bucket that belonged to a user before they signed in, and the user's current bucket. The
    paths of its files do not change.
    """

    name = models.CharField(max_length=100, unique=True)
    bucket = models.CharField(max_length=100, db_index=True)

    def __str__(self) -> str:
        return f"{self.name} is {self.bucket}"


class McpServer(VersionedRow):
    """An MCP server that this machine starts on demand. Anyone who can edit it can execute programs
    on this machine.
    """

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")],
        help_text="The name that manifests use in mcp_server_info.server.",
    )
    command = models.CharField(
        max_length=500, help_text="The path of a program, or its name if it is on the PATH."
    )
    arguments = models.JSONField(
        default=list,
        blank=True,
        help_text=('A JSON list, such as ["--verbose"]. Not interpreted by a shell.'),
    )
    environment = SecretField(
        blank=True,
        default="",
        help_text=('A JSON object with additional environment variables, such as {"TOKEN": "…"}.'),
    )
    working_directory = models.CharField(
        max_length=500,
        blank=True,
        help_text=("An absolute path. Leave empty for the working directory of QuickApps."),
    )
    is_enabled = models.BooleanField("enabled", default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        verbose_name = "MCP server"

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        problems = {}
        if not self.command.strip() or not self.command.isprintable():
            problems["command"] = "Enter a program, without line breaks."
        arguments = self.arguments
        if not isinstance(arguments, list) or not all(is_argument(a) for a in arguments):
            problems["arguments"] = 'Enter a JSON list of strings, such as [] or ["--verbose"].'
        if self.working_directory and not self.working_directory.startswith("/"):
            problems["working_directory"] = "Enter an absolute path, or leave it empty."
        try:
            self.parsed_environment()
        except ValueError:
            problems["environment"] = 'Enter a JSON object of strings, such as {"TOKEN": "…"}.'
        if problems:
            raise ValidationError(problems)

    def parsed_environment(self) -> dict[str, str]:
        """Parse the environment variables. Raises ValueError with a message that does not quote the
        stored text.
        """
        if not self.environment.strip():
            return {}
        try:
            found = json.loads(self.environment)
        except (ValueError, RecursionError):
            raise ValueError("The environment is not JSON.") from None
        if not isinstance(found, dict) or not all(
            VARIABLE.fullmatch(name) and is_argument(value) for name, value in found.items()
        ):
            raise ValueError("The environment is not a JSON object of strings.")
        return found


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_argument(value: object) -> bool:
    # A NUL character would terminate a program's argument.
    return isinstance(value, str) and "\0" not in value
