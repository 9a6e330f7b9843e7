"""Rows of the local workspace: deployments, secrets, stored files, MCP servers."""

import json
import re
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from apps.manifest.secrets import NAME
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.local.corpus import ChunkTerms as ChunkTerms
from apps.workspace.local.corpus import Corpus as Corpus
from apps.workspace.local.corpus import CorpusChunk as CorpusChunk
from apps.workspace.local.corpus import CorpusDocument as CorpusDocument
from apps.workspace.local.deployment import Deployment as Deployment
from apps.workspace.local.personal_keys import PersonalKey as PersonalKey
from apps.workspace.local.remembered import MemoryCollection as MemoryCollection
from apps.workspace.local.remembered import MemoryMerge as MemoryMerge
from apps.workspace.local.remembered import MemorySettings as MemorySettings
from apps.workspace.local.remembered import StoredMemory as StoredMemory
from apps.workspace.local.secrets import SecretField
from apps.workspace.local.servers import MOST_SERVERS, read_server
from apps.workspace.local.tool_accounts import RegisteredClient as RegisteredClient
from apps.workspace.local.tool_accounts import ToolAccount as ToolAccount
from apps.workspace.local.tool_description import ToolDescription as ToolDescription
from apps.workspace.versions import Versioned


class Secret(Versioned):
    """A named credential, which manifests and predefined content refer to.

    It is sent to its `servers` only: otherwise an editor of applications could have it sent to a
    server of their own.
    """

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[
            RegexValidator(
                re.compile(rf"^(?:{NAME.pattern})\Z"),
                "Write letters, digits, hyphens and underscores.",
            )
        ],
        help_text='What manifests write: {"$secret": "name"}.',
    )
    value = SecretField()
    description = models.TextField(blank=True, help_text="What it opens, and who gave it.")
    servers = models.JSONField(default=list, blank=True)
    is_for_any_server = models.BooleanField(
        "for any server",
        default=False,
        help_text="Whoever may edit applications can then read it: by having it sent to a server "
        "of theirs.",
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
        permissions = (("send_secret_anywhere", "Can let a secret be sent to any server"),)

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
                problems["servers"] = "Name the servers that it may be sent to."
            if self.servers and self.is_for_any_server:
                problems["is_for_any_server"] = "Either name servers, or allow all of them."
        if problem := header_value_problem(self.value or ""):
            problems["value"] = f"It is sent in headers, and {problem}"
        if problems:
            raise ValidationError(problems)


def read_servers(servers: object) -> list[str]:
    """Raises ValueError."""
    if not isinstance(servers, list) or not all(isinstance(server, str) for server in servers):
        raise ValueError("Write a list of servers.")
    if len(servers) > MOST_SERVERS:
        raise ValueError(f"Write at most {MOST_SERVERS} servers.")
    return list(dict.fromkeys(map(read_server, servers)))


class StoredFile(models.Model):
    """A file of one bucket; its bytes are in Django's default storage under `storage_name`."""

    bucket = models.CharField(max_length=100)
    name = models.CharField(max_length=500, help_text="The path inside the bucket, decoded.")
    storage_name = models.CharField(max_length=300)
    content_type = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    etag = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("bucket", "name")
        constraints = (
            models.UniqueConstraint(fields=("bucket", "name"), name="one_file_of_a_name"),
        )

    def __str__(self) -> str:
        return f"files/{self.bucket}/{self.name}"


PUBLIC = "public"
"""The bucket that everybody may read and operators write, as in DIAL."""


class SharedFiles(models.Manager["SharedFile"]):
    def get_queryset(self) -> models.QuerySet["SharedFile"]:
        return super().get_queryset().filter(bucket=PUBLIC)


class SharedFile(StoredFile):
    """A file of the operators that every application and everybody may read."""

    objects: ClassVar[SharedFiles] = SharedFiles()

    class Meta:
        proxy = True
        ordering = ("name",)


class FormerBucket(models.Model):
    """A bucket that somebody owned before signing in: its files keep their paths."""

    name = models.CharField(max_length=100, unique=True)
    bucket = models.CharField(max_length=100, db_index=True)

    def __str__(self) -> str:
        return f"{self.name} is {self.bucket}"


class McpServer(Versioned):
    """An MCP server that is started on this machine on demand; its editors can execute programs here."""

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")],
        help_text="What manifests write in mcp_server_info.server.",
    )
    command = models.CharField(
        max_length=500, help_text="A program: its path, or its name if it is on the PATH."
    )
    arguments = models.JSONField(
        default=list, blank=True, help_text='A JSON list, such as ["--verbose"]. No shell reads it.'
    )
    environment = SecretField(
        blank=True,
        default="",
        help_text='A JSON object with variables beside the usual ones, such as {"TOKEN": "…"}.',
    )
    working_directory = models.CharField(
        max_length=500, blank=True, help_text="A path from the root; empty for the server's own."
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
            problems["command"] = "Write a program, without line breaks."
        arguments = self.arguments
        if not isinstance(arguments, list) or not all(is_argument(a) for a in arguments):
            problems["arguments"] = 'Write a JSON list of texts, such as [] or ["--verbose"].'
        if self.working_directory and not self.working_directory.startswith("/"):
            problems["working_directory"] = "Write a path from the root, or leave it empty."
        try:
            self.parsed_environment()
        except ValueError:
            problems["environment"] = 'Write a JSON object of texts, such as {"TOKEN": "…"}.'
        if problems:
            raise ValidationError(problems)

    def parsed_environment(self) -> dict[str, str]:
        """Raises ValueError, which does not repeat what is stored."""
        if not self.environment.strip():
            return {}
        try:
            found = json.loads(self.environment)
        except (ValueError, RecursionError):
            raise ValueError("The environment is not JSON.") from None
        if not isinstance(found, dict) or not all(
            VARIABLE.fullmatch(name) and is_argument(value) for name, value in found.items()
        ):
            raise ValueError("The environment is not a JSON object of texts.")
        return found


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_argument(value: object) -> bool:
    # NUL would end the argument of a program.
    return isinstance(value, str) and "\0" not in value
