"""Defines the database model for deployments."""

import re
from collections.abc import Mapping, Sequence

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from apps.workspace.local.deployments.fallback_rules import fallback_problem
from apps.workspace.local.secrets.field import SecretField
from apps.workspace.versions import VersionedRow

KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(API_KEY|TOKEN)")


def validate_key_variable(name: str) -> None:
    # Only variables that are named like a service's key may be sent. SECRET_KEY, for example, must
    # never be sent.
    if not KEY_VARIABLE.fullmatch(name):
        raise ValidationError(
            "%(name)s is not allowed. Use an uppercase environment variable name that "
            "ends in _API_KEY or _TOKEN.",
            params={"name": repr(name)},
        )


def capability_flag(
    title: str, help_text: str = ""
) -> models.BooleanField[bool | None, bool | None]:
    """Return a nullable Boolean field for a capability. If it is None, the capability is derived
    from the model's name.
    """
    return models.BooleanField(title, null=True, blank=True, default=None, help_text=help_text)


class Deployment(VersionedRow):
    """A model at a service: the service's URL and key, the model's name there, and its features."""

    class Kind(models.TextChoices):
        CHAT = "chat", "Chat: writes answers"
        EMBEDDING = "embedding", "Embedding: creates vectors from texts"
        IMAGE = "image", "Image: creates images"

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
        help_text="The ID that manifests use in orchestrator.deployment.deployment_id.",
    )
    display_name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    kind = models.CharField(
        max_length=20,
        choices=Kind.choices,
        default=Kind.CHAT,
        help_text="Only chat models can run applications; image models are for tools.",
    )
    provider = models.CharField(max_length=20, choices=Provider.choices, default=Provider.OPENAI)
    base_url = models.URLField(
        blank=True,
        max_length=500,
        help_text=(
            "The URL with the API version, such as https://api.example.com/v1. Leave empty for "
            "the public URL of Anthropic or OpenAI Responses."
        ),
    )
    model_name = models.CharField(
        max_length=200, blank=True, help_text="The name of the model at the service."
    )
    api_key = SecretField(blank=True, default="")
    api_key_env = models.CharField(
        "API key variable",
        max_length=100,
        blank=True,
        validators=[validate_key_variable],
        help_text="The name of an environment variable with the key, used if no key is stored.",
    )
    takes_personal_keys = models.BooleanField(
        "accepts users’ own keys",
        default=False,
        help_text=(
            "Users can add their own keys for this service. Applications with "
            "features.model_keys use them."
        ),
    )
    features = models.JSONField(default=dict, blank=True)
    input_attachment_types = models.JSONField(default=list, blank=True)
    tools = capability_flag("tools", "In the native format of the API, which most models support.")
    text_tools = models.BooleanField(
        "tools as text",
        default=True,
        help_text=(
            "For a model without native tool support. If this setting is on, the prompt describes the "
            "tools, and tool calls are parsed from the model's text. If it is off, the model "
            "gets no tools."
        ),
    )
    parallel_tools = capability_flag(
        "parallel tool calls", "If No, the model is asked to make one call at a time."
    )
    vision = capability_flag("image input", "If No, questions with images are rejected.")
    documents = capability_flag("document input", "PDF files are sent unchanged.")
    audio_input = capability_flag("audio input", "Audio is sent unchanged.")
    audio_output = capability_flag("audio output")
    structured_output = capability_flag("JSON schema output", "For response_format.")
    reasoning = capability_flag("reasoning")
    caching = capability_flag("prompt caching", "The service caches the beginnings of requests.")
    context_window = models.PositiveIntegerField(null=True, blank=True, help_text="In tokens.")
    max_output_tokens = models.PositiveIntegerField(
        "maximum output",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The limit in tokens. Requests for more output are rejected.",
    )
    parameters = models.JSONField(default=dict, blank=True, help_text="Default request parameters.")
    fallbacks = models.JSONField(
        default=list,
        blank=True,
        help_text=(
            "Fallback deployments, tried in this order if this one is overloaded, "
            "times out, is unreachable, or has an invalid key. Each is tried with its "
            "own fallbacks."
        ),
    )
    is_enabled = models.BooleanField("enabled", default=True)
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("display_name",)
        permissions = (
            (
                "change_deployment_keys",
                "Can set the keys of deployments and the servers that receive them",
            ),
        )

    def __str__(self) -> str:
        return self.display_name or self.deployment_id

    @property
    def speaks_dial(self) -> bool:
        """True if the service uses DIAL's protocol, so that the deployment may be an application."""
        return isinstance(self.features, dict) and self.features.get("dial") is True

    @property
    def address(self) -> str:
        return service_address(self.provider, self.base_url)

    def clean(self) -> None:
        problems = {}
        if self.provider == self.Provider.OPENAI and not self.base_url:
            problems["base_url"] = "Required for an OpenAI-compatible service."
        kinds = PROVIDER_KINDS.get(self.provider, (self.kind,))
        if self.kind not in kinds:
            name = self.Provider(self.provider).label
            possible = " or ".join(repr(self.Kind(kind).label) for kind in kinds)
            problems["kind"] = f"{name}: choose the kind {possible}."
        for name in ("features", "parameters"):
            if not isinstance(getattr(self, name), dict):
                problems[name] = 'Enter a JSON object, such as {} or {"temperature": 0}.'
        kinds = self.input_attachment_types
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            problems["input_attachment_types"] = 'Enter a JSON list, such as [] or ["image/*"].'
        if (text := fallback_problem(self)) is not None:
            problems["fallbacks"] = text
        if problems:
            raise ValidationError(problems)


PROVIDER_KINDS: Mapping[str, Sequence[str]] = {
    Deployment.Provider.ANTHROPIC: (Deployment.Kind.CHAT,),
    Deployment.Provider.RESPONSES: (Deployment.Kind.CHAT,),
    Deployment.Provider.DEMO: (Deployment.Kind.CHAT, Deployment.Kind.IMAGE),
    Deployment.Provider.MINILM: (Deployment.Kind.EMBEDDING,),
}
"""Maps providers to the only kinds of deployment that they support. Other providers support all
kinds.
"""
BUILT_IN_PROVIDERS = frozenset({Deployment.Provider.DEMO, Deployment.Provider.MINILM})
"""The providers that are part of this server and need no key."""
ADDRESSES: Mapping[str, str] = {
    Deployment.Provider.ANTHROPIC: "https://api.anthropic.com/v1",
    Deployment.Provider.RESPONSES: "https://api.openai.com/v1",
}
"""The vendors' URLs, for deployments without a base URL."""


def service_address(provider: str, base_url: str) -> str:
    return base_url or ADDRESSES.get(provider, "")
