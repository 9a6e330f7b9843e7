"""Rows of the local workspace: deployments, secrets, stored files, MCP servers."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from apps.manifest.secrets import NAME
from apps.workspace.egress.headers import header_value_problem
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

KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(API_KEY|TOKEN)")


def validate_key_variable(name: str) -> None:
    # Only variables that are named as keys may be sent out: never, say, the SECRET_KEY.
    if not KEY_VARIABLE.fullmatch(name):
        raise ValidationError(
            "%(name)s is not the name of an environment variable with a key; "
            "write one in capitals that ends in _API_KEY or _TOKEN.",
            params={"name": repr(name)},
        )


class Deployment(Versioned):
    """A model: its service, its name there, its features."""

    class Kind(models.TextChoices):
        CHAT = "chat", "Chat: writes answers"
        EMBEDDING = "embedding", "Embedding: makes vectors of texts"
        IMAGE = "image", "Image: makes pictures"

    class Provider(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible service"
        ANTHROPIC = "anthropic", "Anthropic"
        RESPONSES = "openai_responses", "OpenAI Responses"
        DEMO = "demo", "Built-in demo model (needs no key)"
        MINILM = "minilm", "Built-in embedding model (needs no key)"

    deployment_id = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")],
        help_text="What manifests write in orchestrator.deployment.deployment_id.",
    )
    display_name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    kind = models.CharField(
        max_length=20,
        choices=Kind.choices,
        default=Kind.CHAT,
        help_text="Only chat models drive applications; image models are for tools.",
    )
    provider = models.CharField(max_length=20, choices=Provider.choices, default=Provider.OPENAI)
    base_url = models.URLField(
        blank=True,
        max_length=500,
        help_text="Up to and with the version, such as https://api.example.com/v1. Empty for the "
        "public address of Anthropic and of OpenAI Responses.",
    )
    model_name = models.CharField(
        max_length=200, blank=True, help_text="The model's name at the service."
    )
    api_key = SecretField(blank=True, default="")
    api_key_env = models.CharField(
        "API key variable",
        max_length=100,
        blank=True,
        validators=[validate_key_variable],
        help_text="Name of an environment variable with the key; used when no key is stored.",
    )
    features = models.JSONField(default=dict, blank=True)
    input_attachment_types = models.JSONField(default=list, blank=True)
    context_window = models.PositiveIntegerField(null=True, blank=True, help_text="In tokens.")
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Request parameters that apply by default."
    )
    is_enabled = models.BooleanField("enabled", default=True)
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("display_name",)

    def __str__(self) -> str:
        return self.display_name or self.deployment_id

    @property
    def address(self) -> str:
        return service_address(self.provider, self.base_url)

    def clean(self) -> None:
        problems = {}
        if self.provider == self.Provider.OPENAI and not self.base_url:
            problems["base_url"] = "An OpenAI-compatible service needs its address."
        kinds = PROVIDER_KINDS.get(self.provider, (self.kind,))
        if self.kind not in kinds:
            name = self.Provider(self.provider).label
            possible = " or ".join(repr(self.Kind(kind).label) for kind in kinds)
            problems["kind"] = f"{name}: choose the kind {possible}."
        for name in ("features", "parameters"):
            if not isinstance(getattr(self, name), dict):
                problems[name] = 'Write a JSON object, such as {} or {"temperature": 0}.'
        kinds = self.input_attachment_types
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            problems["input_attachment_types"] = 'Write a JSON list, such as [] or ["image/*"].'
        if problems:
            raise ValidationError(problems)


PROVIDER_KINDS: Mapping[str, Sequence[str]] = {
    Deployment.Provider.ANTHROPIC: (Deployment.Kind.CHAT,),
    Deployment.Provider.RESPONSES: (Deployment.Kind.CHAT,),
    Deployment.Provider.DEMO: (Deployment.Kind.CHAT, Deployment.Kind.IMAGE),
    Deployment.Provider.MINILM: (Deployment.Kind.EMBEDDING,),
}
"""Of the providers that do not have all kinds."""
BUILT_IN_PROVIDERS = frozenset({Deployment.Provider.DEMO, Deployment.Provider.MINILM})
"""They are part of this server and need no key."""
ADDRESSES: Mapping[str, str] = {
    Deployment.Provider.ANTHROPIC: "https://api.anthropic.com/v1",
    Deployment.Provider.RESPONSES: "https://api.openai.com/v1",
}
"""Of the vendors, for deployments without a base URL."""


def service_address(provider: str, base_url: str) -> str:
    return base_url or ADDRESSES.get(provider, "")


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
