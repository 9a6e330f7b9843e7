"""Defines all settings, which are read from environment variables. docs/settings.md describes each."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.urls import reverse_lazy

from quickapps_site import environment as env
from quickapps_site import installation, service_urls
from quickapps_site.certificates import AUTHORITIES_FOLDER, trust_authorities
from quickapps_site.identity_providers import read_providers
from quickapps_site.observability.logs import logging_of, read_json_template, read_text_format

django_stubs_ext.monkeypatch()  # This makes `ModelAdmin[Model]` work at run time.

# NumPy reads these variables when it is first imported, which is always after the settings. With
# one thread per processor, embedding a short text takes ten times as long on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = installation.ROOT
VAR_DIR = Path(env.text("DATA_DIR") or installation.default_data_folder())
VAR_DIR.mkdir(parents=True, exist_ok=True)

USE_SYSTEM_CA_CERTS = env.boolean("USE_SYSTEM_CA_CERTS", False)
"""If true, outgoing TLS connections also trust the certificate authorities in `/certificates`."""
if USE_SYSTEM_CA_CERTS:
    trust_authorities(AUTHORITIES_FOLDER, VAR_DIR / "ca-certificates.pem")

# --- Security ---------------------------------------------------------------------------------

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret("SECRET_KEY", VAR_DIR / "secret.key")
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
SALT_KEY = env.words("SALT_KEY") or ["quickapps"]
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
if "*" in ALLOWED_HOSTS and not DEBUG:
    raise ImproperlyConfigured(
        "ALLOWED_HOSTS is '*', which disables the origin check of WebSockets; "
        "list the host names, separated by commas."
    )
PORT = env.integer("PORT", 8000, least=1)
SITE_URL = env.url("SITE_URL", f"http://127.0.0.1:{PORT}", ("http", "https")).rstrip("/")
"""The URL at which this server reaches itself. REST tools' URLs that begin with / are relative to
it.
"""
PUBLIC_URL = env.url("PUBLIC_URL", SITE_URL, ("http", "https")).rstrip("/")
"""The URL at which users open the site. Links in emails begin with it."""
_public = urlsplit(PUBLIC_URL.lower())
HTTPS = _public.scheme == "https"
"""True if a proxy in front of the server terminates TLS."""
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
"""Browsers use only TLS for this host for a year after a visit."""
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
"""The HSTS checks for subdomains are silenced, because other services on the same domain may not
use TLS.
"""
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
COOKIES_SAMESITE = env.choice("COOKIES_SAMESITE", "Lax", ("Lax", "Strict", "None"))
"""The SameSite attribute of cookies. With `None`, pages on other sites can show this site in a
frame; browsers accept it only with TLS.
"""
if COOKIES_SAMESITE == "None" and not HTTPS:
    raise ImproperlyConfigured(
        "COOKIES_SAMESITE is 'None', which requires HTTPS; set PUBLIC_URL to a URL that begins with https."
    )
SESSION_COOKIE_SAMESITE = COOKIES_SAMESITE
CSRF_COOKIE_SAMESITE = COOKIES_SAMESITE
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

HOST = env.text("HOST", "127.0.0.1")
ROLE = env.choice("ROLE", "all", ("all", "web", "worker"))
"""The work of this process: the site (`web`), background jobs (`worker`), or both (`all`)."""
SHUTDOWN_GRACE_SECONDS = env.seconds("SHUTDOWN_GRACE_SECONDS", 30.0, most=3600, zero=True)
"""The time in seconds after SIGTERM for which answers can finish, before they are handed over or
end with an error.
"""
SHUTDOWN_DRAIN_SECONDS = env.seconds("SHUTDOWN_DRAIN_SECONDS", 2.0, most=600, zero=True)
"""The time in seconds after SIGTERM for which `/readyz` returns 503 and connections are still
accepted.
"""
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
"""The addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` replace the connection's
address and scheme.
"""
CSRF_TRUSTED_ORIGINS = [] if PUBLIC_URL == SITE_URL else [f"{_public.scheme}://{_public.netloc}"]
"""Origins from which forms and WebSockets are accepted, so that the site's own pages work even if a
proxy changes the host.
"""

# --- Django -----------------------------------------------------------------------------------

INSTALLED_APPS = [
    # Listed before the static files app, which also has a `runserver`.
    "quickapps_site.development_server",
    "quickapps_site.operations",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "channels",
    "rest_framework",
    "rest_framework_api_key",
    "drf_spectacular",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.idp.oidc",
    "apps.tasks",
    "apps.accounts",
    "apps.workspace.local",
    "apps.notes",
    "apps.schedules",
    "apps.catalog",
    "apps.insights",
    "apps.live",
    "apps.conversations",
    "apps.responses",
    "apps.cases",
    "apps.feedback",
    "apps.chat",
    "apps.console",
    "apps.triggers",
    "apps.a2a",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "quickapps_site.middleware.static_files.StaticFilesMiddleware",
    "quickapps_site.middleware.policies.PathPolicyMiddleware",
    "quickapps_site.middleware.encodings.read_forms_as_utf8",
    "quickapps_site.middleware.nul.refuse_nul_in_forms",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.languages.LanguageMiddleware",
    "quickapps_site.middleware.read_only.refuse_writes",  # This uses the user's language.
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "apps.accounts.sign_in.sessions.SeenSessionMiddleware",
    "apps.accounts.sign_in.second_factors.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "apps.catalog.history.actors.remember_request",
    "quickapps_site.middleware.methods.explain_unsupported_methods",
]

ROOT_URLCONF = "quickapps_site.urls"
ASGI_APPLICATION = "quickapps_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [installation.RESOURCES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"bundles": "quickapps_site.assets.bundle_tags"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "apps.chat.account.own_budgets.own_budgets",
                "apps.accounts.preferences.preferences",
                "apps.chat.teams.switch.own_teams",
                "apps.chat.rail.frame.rail",
                "quickapps_site.middleware.read_only.banner",
            ],
        },
    },
]

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # Widgets have templates in DIRS.

DATABASES = {
    "default": service_urls.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'db.sqlite3'}")
}
DATABASE_THREADS = env.integer("DATABASE_THREADS", 6, least=1)
DATABASE_POOL_SIZE = DATABASE_THREADS + 10
"""The maximum number of connections to PostgreSQL per process. Requests to Django's views use the
connections that the database threads do not need.
"""
for _database in DATABASES.values():
    if "pool" in _database.get("OPTIONS", {}):
        _database["OPTIONS"]["pool"]["max_size"] = DATABASE_POOL_SIZE
IS_POSTGRESQL = DATABASES["default"]["ENGINE"] == "quickapps_site.postgresql"
if IS_POSTGRESQL:
    INSTALLED_APPS.insert(0, "procrastinate.contrib.django")  # Our own admin replaces it.
_tasks = (
    "postgresql.backend.PostgreSQLBackend" if IS_POSTGRESQL else "embedded.backend.EmbeddedBackend"
)
TASKS = {"default": {"BACKEND": f"apps.tasks.{_tasks}"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

SIGN_UP = env.choice("SIGN_UP", "closed", ("closed", "invitation", "approval", "open"))
"""Determines who can create an account: nobody, users with an invitation, users whom an
administrator approves, or everyone.
"""
EMAIL = service_urls.mail("EMAIL_URL")
SENDS_MAIL = EMAIL is not None
if EMAIL is not None:
    EMAIL_BACKEND = EMAIL.backend
    EMAIL_FILE_PATH = EMAIL.folder
    EMAIL_HOST, EMAIL_PORT = EMAIL.host, EMAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = EMAIL.user, EMAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL.is_upgraded, EMAIL.is_encrypted
    EMAIL_TIMEOUT = 20
else:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "quickapps@localhost")
if EMAIL is not None and EMAIL.host and not env.text("EMAIL_FROM"):
    raise ImproperlyConfigured(
        "EMAIL_URL is set without EMAIL_FROM; set it to the address of the sender."
    )

ACCOUNT_ADAPTER = "apps.accounts.sign_in.adapter.AccountAdapter"
# Accounts created by administrators need no address. Accounts from sign_up.py wait until their
# address is confirmed.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_CHANGE_EMAIL = (
    True  # Each user has one address, which is replaced when the new one is confirmed.
)
# Otherwise, a stranger at a signed-in browser could reset the password with their own address.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# An unconfirmed address is not reserved, so another user may enter it too.
ACCOUNT_PREVENT_ENUMERATION = "strict"
ACCOUNT_FORMS = {"add_email": "apps.accounts.sign_in.address_pages.AddressForm"}
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = SENDS_MAIL
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = (
    False  # A user without access to a page may switch accounts.
)
ACCOUNT_RATE_LIMITS = {
    "login": None,  # Successful attempts are not counted.
    "login_failed": "5/5m/key",
    "login_failed_by_address": "50/5m/ip",
    "setup": "10/5m/ip",
    "share": "30/5m/user",
    "continue": "30/5m/ip",  # This copies shared conversations.
    "client_document": "20/5m/user",
}
MFA_ADAPTER = "apps.accounts.sign_in.second_factors.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_REQUIRED_FOR_STAFF = env.boolean("MFA_REQUIRED_FOR_STAFF", False)
PERSONAL_API_KEYS = env.boolean("PERSONAL_API_KEYS", True)
"""If true, users can create API keys, which have the user's permissions."""
REQUIRE_SECOND_PUBLISHER = env.boolean("REQUIRE_SECOND_PUBLISHER", False)
"""If true, publishing an application always requires two users. Otherwise, only applications with
this option require them.
"""
PASSWORD_SIGN_IN = env.boolean("PASSWORD_SIGN_IN", True)
"""If true, users can sign in with a password. Superusers always can, in case an identity provider
is down.
"""
MCP_OAUTH = env.boolean("MCP_OAUTH", False)
"""If true, users can allow MCP clients to act for them on the MCP server."""
IDP_OIDC_ADAPTER = "apps.oauth_server.adapter.OAuthAdapter"
IDP_OIDC_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
IDP_OIDC_ACCESS_TOKEN_EXPIRES_IN = 3600
IDP_OIDC_REFRESH_TOKEN_EXPIRES_IN = 30 * 24 * 3600
"""If an MCP client has not been used for this many seconds, users must sign in to it again. Each
use renews the token.
"""
IDP_OIDC_DCR_REQUIRES_INITIAL_ACCESS_TOKEN = False
IDP_OIDC_RATE_LIMITS = {"client_registration": "10/m/ip"}
SOCIALACCOUNT_ADAPTER = "apps.workspace.egress.requests_session.GuardedSocialAdapter"
SOCIALACCOUNT_PROVIDERS = read_providers(env.text("SIGN_IN_PROVIDERS"))
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_EMAIL_REQUIRED = False
SOCIALACCOUNT_QUERY_EMAIL = True

LANGUAGE_CODE = "en"
LANGUAGES = (("en", "English"), ("de", "Deutsch"), ("uk", "Українська"), ("ar", "العربية"))
"""The languages of the pages for users, listed by their own names. Operators read English."""
LANGUAGE_COOKIE_NAME = "language"
LOCALE_PATHS = [installation.PACKAGE / "locale"]
FORMAT_MODULE_PATH = "quickapps_site.formats"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("STATIC_DIR") or VAR_DIR / "static")
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "quickapps_site.assets.static_files.BuiltFiles"},
}
MEDIA_ROOT = VAR_DIR / "files"
"""The folder for uploaded files, unless `FILES_URL` refers to a bucket."""
FILES_URL = service_urls.bucket("FILES_URL")
FILES_ACCESS_KEY_ID = env.text("FILES_ACCESS_KEY_ID")
FILES_SECRET_ACCESS_KEY = env.text("FILES_SECRET_ACCESS_KEY")
if bool(FILES_ACCESS_KEY_ID) != bool(FILES_SECRET_ACCESS_KEY):
    raise ImproperlyConfigured(
        "Set both FILES_ACCESS_KEY_ID and FILES_SECRET_ACCESS_KEY, or neither to use the AWS "
        "environment variables or the machine's IAM role."
    )
WHITENOISE_USE_FINDERS = True
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- Shared between processes -----------------------------------------------------------------

CACHE_ENTRIES = 10_000
"""The maximum number of entries in a process's cache. With a low limit, failed sign-ins could evict
their own counter.
"""
WEB_CONCURRENCY = env.integer("WEB_CONCURRENCY", 1, least=1)
REDIS_URL = service_urls.redis("REDIS_URL")
if REDIS_URL:
    CHANNEL_LAYERS = {"default": {"BACKEND": "quickapps_site.channel_layer.RedisChannelLayer"}}
    CACHES = {
        "default": {
            "BACKEND": "quickapps_site.caches.RedisOrLocalCache",
            "OPTIONS": {"MAX_ENTRIES": CACHE_ENTRIES},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "OPTIONS": {"MAX_ENTRIES": CACHE_ENTRIES},
        }
    }

# --- Content security policy ------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "media-src": [SELF, "data:"],
        # This also limits where a frame may navigate by itself, so that it cannot send data to
        # other hosts.
        "frame-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

ALLOWED_FRAME_ANCESTORS = env.origins("ALLOWED_FRAME_ANCESTORS", patterns=True)
"""The sites that can show the application editor in a frame, such as DIAL's chat. Nothing else can
be framed.
"""
ALLOWED_ORIGIN = env.origins("ALLOWED_ORIGIN") or [
    origin for origin in ALLOWED_FRAME_ANCESTORS if "*" not in origin
]
"""The origins of pages with which the editor exchanges messages. The default is all origins in
`ALLOWED_FRAME_ANCESTORS` that contain no star.
"""

# The admin's widgets evaluate expressions in its pages, and its theme writes inline styles.
ADMIN_POLICY = {"script-src": [SELF, NONCE, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}
CONTENT_SECURITY_POLICIES = {
    "admin:index": ADMIN_POLICY,
    "ai-latency": ADMIN_POLICY,
    # The manifest form's library writes inline styles.
    "dial-editor": {
        "style-src": [SELF, UNSAFE_INLINE],
        "frame-ancestors": ALLOWED_FRAME_ANCESTORS or [NONE],
    },
}
"""Maps URL names to directives that override the default content security policy."""

# --- The admin --------------------------------------------------------------------------------

UNFOLD = {
    "SITE_TITLE": "QuickApps",
    "SITE_HEADER": "QuickApps",
    "SITE_SUBHEADER": "Administration",
    "SITE_ICON": {
        "light": lambda request: static("chat/images/icon.svg"),
        "dark": lambda request: static("chat/images/icon-dark.svg"),
    },
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": reverse_lazy("favicon")},
    ],
    "SITE_URL": "/",
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "8px",
    # The color scales in tokens.css: from paper to ink, and for the accent color.
    "COLORS": {
        "base": {
            "50": "#faf9f6",
            "100": "#f3f1eb",
            "200": "#e3e0d7",
            "300": "#cbc9c2",
            "400": "#a1a6a8",
            "500": "#62696e",
            "600": "#575d62",
            "700": "#3d464d",
            "800": "#2b3238",
            "900": "#15181b",
            "950": "#101315",
        },
        "primary": {
            "50": "#f0f8f6",
            "100": "#e2f1ee",
            "200": "#bfe3dc",
            "300": "#86dbd1",
            "400": "#5cc9bd",
            "500": "#3fb0a4",
            "600": "#0f766e",
            "700": "#0b5d57",
            "800": "#0c4a45",
            "900": "#1b3835",
            "950": "#0c1f1d",
        },
        # Notices.
        "blue": {"100": "#e2f1ee", "400": "#5cc9bd", "500": "#3fb0a4", "700": "#0b5d57"},
        # Switches and marks of true values are in the accent color. Red is for errors.
        "green": {"100": "#e2f1ee", "400": "#86dbd1", "500": "#0f766e", "700": "#0b5d57"},
        "red": {
            "100": "#fcecea",
            "300": "#f2a29b",
            "400": "#f2a29b",
            "500": "#c9453c",
            "600": "#b3261e",
            "700": "#8f1d17",
        },
    },
    "SCRIPTS": [
        lambda request: static("console/landmarks.js"),
        lambda request: static("console/menu.js"),
        lambda request: static("console/palette.js"),
        lambda request: static("console/copy.js"),
        lambda request: static("console/choice-menus.js"),
        lambda request: static("console/theme-files.js"),
        lambda request: static("chat/scripts/site/file-inputs.js"),
    ],
    "STYLES": [
        lambda request: static("chat/styles/tokens.css"),
        lambda request: static("chat/styles/selects.css"),
        lambda request: static("chat/styles/file-input.css"),
        lambda request: static("chat/styles/icons.css"),
        lambda request: static("chat/styles/popovers.css"),
        lambda request: static("chat/styles/account-menu.css"),
        lambda request: static("console/admin.css"),
        lambda request: static("console/palette.css"),
    ],
    "DASHBOARD_CALLBACK": "apps.console.admin.watch.dashboard.overview",
    "SIDEBAR": {
        "show_search": False,
        "navigation": "apps.console.menu.navigation",
    },
}

# --- Admin API ---------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.console.api.authentication.OperatorKeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.console.api.authentication.StaffWithPermission"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.console.api.parser.StrictJSONParser"],
    "EXCEPTION_HANDLER": "apps.console.api.problems.error_response",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "QuickApps",
    "DESCRIPTION": "Manage applications, deployments and everything else in the admin with scripts.",
    "VERSION": "1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.console.api.json_fields.add_components",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ApplicationStateEnum": "apps.catalog.versions.states.ApplicationState",
        "CaseRunStateEnum": "apps.cases.models.CaseRun.State",
        "FeedbackStateEnum": "apps.feedback.models.Feedback.State",
    },
}

# --- QuickApps --------------------------------------------------------------------------------

CAPABILITIES = [
    "apps.capabilities.contexts.capability.contexts",
    "apps.capabilities.attachments.capability.attachments",
    "apps.capabilities.clock.capability.clock",
    "apps.capabilities.attachments.capability.attachment_contents",
    "apps.capabilities.rest.capability.rest",
    "apps.capabilities.deployment.capability.deployment",
    "apps.capabilities.interpreter.capability.interpreter",
    "apps.capabilities.files.capability.files",
    "apps.capabilities.web.capability.web",
    "apps.capabilities.documents.capability.documents",
    "apps.capabilities.representation.capability.representation",
    "apps.capabilities.questions.capability.questions",
    "apps.capabilities.client_tools.capability.client_tools",
    "apps.capabilities.conversations.capability.conversations",
    "apps.capabilities.notes.capability.notes",
    "apps.capabilities.schedules.capability.schedules",
    "apps.capabilities.surroundings.capability.surroundings",
    "apps.capabilities.mcp.capability.mcp",
    "apps.capabilities.dial_app.capability.dial_app",
    "apps.capabilities.a2a_agents.capability.a2a_agents",
    "apps.capabilities.responses_agents.capability.responses_agents",
    "apps.capabilities.skills.capability.skills",
    "apps.capabilities.memory.capability.memory",  # Its rules come after the skills.
    "apps.capabilities.subagents.capability.subagents",
    "apps.capabilities.subagents.spawn.spawn_agent",
    "apps.capabilities.todo.capability.todo",
    "apps.capabilities.summary.capability.summary",
    "apps.capabilities.hooks.capability.hooks",  # Precedes tool discovery, because hooks also call withheld tools.
    "apps.capabilities.discovery.capability.discovery",
]

DOOR_GUIDES = [
    "apps.gateway.guide.COMPLETIONS",
    "apps.responses.guide.RESPONSES",
    "apps.messages.guide.MESSAGES",
    "apps.mcp_server.guide.MCP",
    "apps.a2a.guide.A2A",
    "apps.ag_ui.guide.AG_UI",
    "apps.task_api.guide.CONVERSATIONS",
    "apps.gateway.guide.CORE",
]
"""The guides to all APIs, in the order in which the studio page and the docs list them."""

PROMPT_LAYERS = [
    "apps.runs.prompt.PLATFORM",
    "apps.runs.prompt.APPLICATION",
    "apps.runs.prompt.TEAM",
    "apps.runs.prompt.PLACE",
    "apps.runs.prompt.CAPABILITIES",
    "apps.runs.prompt.PERSON",
    "apps.runs.prompt.FOLDER",
    "apps.runs.prompt.CLIENT",
]
"""The parts of the system prompt, in the order in which the model reads them."""

PREDEFINED_DIR = installation.RESOURCES / "predefined"
PREDEFINED_EXTRA_PATHS = env.paths("PREDEFINED_EXTRA_PATHS", deprecated="PREDEFINED_BASE_PATH")
"""Folders with additional predefined content. It overrides the built-in content, and the content of
a later folder overrides that of earlier folders.
"""
CONTENT_PATHS = env.paths("CONTENT_PATHS")
"""The folders of managed applications. Users can use these applications, but they are read-only in
the admin.
"""
CONFIG_PROMPT_MAPPING = env.groups("CONFIG_PROMPT_MAPPING")
"""The deployments for which each predefined prompt is intended. Using a prompt with another
deployment causes a warning, but does not change runs.
"""
PROMPT_VARIABLES = env.mapping("PROMPT_VARIABLES", besides=("today", "locale"))
"""Values that replace `{name}` in predefined prompts, in addition to `{today}` and `{locale}`."""
APP_SCHEMA_ID = env.url(
    "APP_SCHEMA_ID",
    "https://mydial.epam.com/custom_application_schemas/quickapps2",
    ("http", "https"),
)
RUN_ROWS_DAYS = env.integer("RUN_ROWS_DAYS", 90, least=1, also=0)
"""The number of days for which records of runs are retained. Zero means forever."""
MODEL_REQUESTS = env.choice("MODEL_REQUESTS", "page", ("none", "page", "all"))
"""The runs whose requests to models are stored: none, runs on the chat page, or all."""
MODEL_REQUESTS_SHOWN = env.boolean("MODEL_REQUESTS_SHOWN", True)
"""If true, users can read the model requests of their own answers."""
RESPONSE_DAYS = env.integer("RESPONSE_DAYS", 30, least=1, also=0)
"""The number of inactive days after which conversations that were used only through the Responses
API are deleted. Zero means never.
"""
AUDIT_DAYS = env.integer("AUDIT_DAYS", 365, least=1, also=0)
"""The number of days for which audit events and changes to definitions are retained. Zero means
forever.
"""
USAGE_DAYS = env.integer("USAGE_DAYS", 400, least=1, also=0)
"""The number of days for which records of model and tool calls are retained. Zero means forever."""
MCP_PINNED_DESCRIPTIONS = env.boolean("MCP_PINNED_DESCRIPTIONS", True)
"""If true, MCP tools are withheld after their descriptions change, until an operator accepts the
change.
"""
ENABLE_PREVIEW_FEATURES = env.boolean("ENABLE_PREVIEW_FEATURES", False)
DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID = env.text("DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID")
DEFAULT_AGENT_MAX_ITERATIONS = env.integer("DEFAULT_AGENT_MAX_ITERATIONS", 15, least=1, also=-1)
MIN_TOOLS_FOR_DEFERRAL = env.integer("MIN_TOOLS_FOR_DEFERRAL", 10, least=1)
DEFAULT_TOOL_TIMEOUT_SECONDS = env.seconds("DEFAULT_TOOL_TIMEOUT_SECONDS", 300.0, most=3600)
APPROVAL_MODE = env.choice("APPROVAL_MODE", "auto", ("auto", "confirm"))
"""The approval mode for applications that do not set one."""
APPROVAL_DENY = env.patterns("APPROVAL_DENY")
"""Patterns of tool calls that are denied in every application."""
DEAD_END_PHRASES = env.patterns("DEAD_END_PHRASES")
"""Patterns of texts in which a model reports that it cannot proceed. If the model's text matches
one, its tool calls are dropped and the answer ends.
"""
TOOL_BATCH_SECONDS = env.seconds("TOOL_BATCH_SECONDS", 0.0, most=86_400, zero=True)
"""The timeout in seconds for all calls that a model makes at once. With zero, only each call's own
timeout applies.
"""
TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD = env.integer(
    "TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD", 40_000, least=1
)
"""The size in bytes above which a tool result counts as large and can be stored in a file."""
TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT = env.boolean(
    "TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT", True
)
"""If true, applications with file tools store large results in files, unless they set this option
themselves.
"""
TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS = env.texts("TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS")
SUBAGENT_TIMEOUT_SECONDS = env.seconds("SUBAGENT_TIMEOUT_SECONDS", 600.0, most=3600)
"""The timeout for a sub-agent's task, in seconds. Applications can only lower it."""
SUBAGENT_MAX_CONCURRENT_SPAWNS = env.integer("SUBAGENT_MAX_CONCURRENT_SPAWNS", 4, least=1)
"""The maximum number of concurrent sub-agent tasks in each process. Further tasks wait."""
DEFAULT_STAGE_DISPLAY_LEVEL = env.choice(
    "DEFAULT_STAGE_DISPLAY_LEVEL", "", ("none", "error", "info", "debug")
)
"""The level of detail at which every application shows its stages, or empty if applications decide.
"""
DEFAULT_FILE_LOADING_SIZE_LIMIT = env.integer(
    "DEFAULT_FILE_LOADING_SIZE_LIMIT", 10_485_760, least=1
)
CHAT_UPLOAD_MAX_BYTES = env.integer("CHAT_UPLOAD_MAX_BYTES", 50_000_000, least=1)
"""The maximum size in bytes of a file that a user uploads on the chat page."""
FILES_MAX_BYTES_PER_USER = env.integer(
    "FILES_MAX_BYTES_PER_USER", 1024 * 1024 * 1024, least=1, also=0
)
"""The maximum total size in bytes of all of an owner's files. Zero means no limit."""
CORPUS_CHUNKS = env.integer("CORPUS_CHUNKS", 4_000, least=0)
"""The maximum total number of chunks in an application's attached files. With 0, none are indexed.

The built-in model needs 50 ms per chunk. Each chunk takes about 12 KB of a process's memory, unless
PostgreSQL with the `vector` extension searches the chunks.
"""
EXTERNAL_URL_FETCH_ENABLED = env.boolean("EXTERNAL_URL_FETCH_ENABLED", False)
"""If true, files can be loaded from the internet for models and users. Applications can only
restrict this.
"""
EXTERNAL_URL_FETCH_HOST_ALLOWLIST = env.words("EXTERNAL_URL_FETCH_HOST_ALLOWLIST")
"""The hosts from which files can be loaded: `host` or `*.host`. An empty list allows every public
host.
"""
EXTERNAL_URL_FETCH_MAX_REDIRECTS = env.integer(
    "EXTERNAL_URL_FETCH_MAX_REDIRECTS", 5, least=0, most=10
)
EXTERNAL_URL_FETCH_CONNECT_TIMEOUT_SECONDS = env.seconds(
    "EXTERNAL_URL_FETCH_CONNECT_TIMEOUT_SECONDS", 5.0, most=300
)
SHOW_USAGE_STATISTICS = env.boolean("SHOW_USAGE_STATISTICS", False)
SHOW_EXECUTION_TIME_STAGE = env.boolean("SHOW_EXECUTION_TIME_STAGE", False)
PROXY_LANGUAGE_HEADER = env.text("PROXY_LANGUAGE_HEADER", "accept-language").lower()
ALLOW_OVERRIDE_SYSTEM_MESSAGE = env.boolean("ALLOW_OVERRIDE_SYSTEM_MESSAGE", False)
EMBEDDINGS_DEPLOYMENT = env.embeddings("EMBEDDINGS")
"""The ID of an embedding deployment, or empty for the built-in embedder."""
PRIVATE_NETWORK_ALLOWLIST = env.words(
    "PRIVATE_NETWORK_ALLOWLIST", ("localhost", "127.0.0.1") if DEBUG else ()
)
"""The hosts on private networks, or `*.suffix`, to which URLs in manifests can refer."""

VAULT_URL = env.url("VAULT_URL", "", ("http", "https")).rstrip("/")
VAULT_TOKEN = env.text("VAULT_TOKEN")
VAULT_ROLE_ID = env.text("VAULT_ROLE_ID")
VAULT_SECRET_ID = env.text("VAULT_SECRET_ID")
if VAULT_URL and bool(VAULT_TOKEN) == bool(VAULT_ROLE_ID and VAULT_SECRET_ID):
    raise ImproperlyConfigured(
        "VAULT_URL is set; set either VAULT_TOKEN, or VAULT_ROLE_ID and VAULT_SECRET_ID."
    )
DIAL_URL = env.url("DIAL_URL", "", ("http", "https")).rstrip("/")
"""The URL of DIAL Core, or empty if DIAL Core is not used."""
DIAL_API_VERSION = env.text("DIAL_API_VERSION", "2025-01-01-preview")
DIAL_TOOLS_FLAG_IS_SET = env.boolean("DIAL_TOOLS_FLAG_IS_SET", False)
"""If true, DIAL Core's configuration declares for every model whether it supports tools. Core
reports a missing declaration as false.
"""
DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS = env.seconds(
    "DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS", 120.0, most=3600
)
DIAL_EDITOR_API_KEY = env.confidential("DIAL_EDITOR_API_KEY")
"""The API key with which the editor reads and saves applications in DIAL Core."""
DIAL_SKILLS_FILE_MAX_BYTES = env.integer("DIAL_SKILLS_FILE_MAX_BYTES", 262_144, least=1)
DIAL_SKILLS_MAX_FILES = env.integer("DIAL_SKILLS_MAX_FILES", 200, least=1)
DIAL_SKILLS_LISTING_MAX_PAGES = env.integer("DIAL_SKILLS_LISTING_MAX_PAGES", 10, least=1)
SKILL_INVOCATION_MAX_SKILLS = env.integer("SKILL_INVOCATION_MAX_SKILLS", 10, least=1)
"""The maximum number of different skills, picked by users, that a conversation uses. If users pick
more, the newest are used.
"""

PY_INTERPRETER_URL = env.url("PY_INTERPRETER_URL", DIAL_URL, ("http", "https"))
"""The URL of DIAL's code interpreter, or empty for the built-in sandbox."""
PY_INTERPRETER_LOCAL_RUN = env.boolean("PY_INTERPRETER_LOCAL_RUN", False)
PY_INTERPRETER_API_KEY = env.confidential("PY_INTERPRETER_API_KEY")
PY_INTERPRETER_DEFAULT_SESSION_ID = env.confidential("PY_INTERPRETER_DEFAULT_SESSION_ID")
PY_INTERPRETER_CLIENT_MAX_RETRIES = env.integer("PY_INTERPRETER_CLIENT_MAX_RETRIES", 3, least=0)
PY_INTERPRETER_CLIENT_TIMEOUT = env.seconds("PY_INTERPRETER_CLIENT_TIMEOUT", 0.0, most=3600)
"""The timeout in seconds for the code interpreter in every application. With zero, applications
decide.
"""

GATEWAY_MAX_BODY_BYTES = 32 * 1024 * 1024
"""The maximum size in bytes of a model request, whose messages can contain files."""
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
"""The maximum size in bytes of a form or JSON document in a request."""
BODY_ROOM = 1024 * 1024
"""The maximum total size in bytes of a form's fields other than its file."""
WEBHOOK_MAX_BODY_BYTES = 262_144
"""The maximum size in bytes of a request to a webhook."""
IMPORT_BODY_BYTES = 64 * 1024 * 1024 + BODY_ROOM
"""The maximum size in bytes of a request that imports conversations from another program.
`apps.chat.imports.files` limits the file itself.
"""
OPENAPI_BODY_BYTES = 2 * 32_000_000 + BODY_ROOM
"""The maximum size in bytes of a document that is pasted into the studio: twice the character limit
in `apps.console.studio.tool_sources.source_texts`, because JSON escapes quotes and line ends.
"""
BODY_LIMITS = (
    (r"/admin/catalog/application/\d+/studio/tools/openapi/", OPENAPI_BODY_BYTES),
    (r"/settings/data/import/", IMPORT_BODY_BYTES),
    (r"/hooks/", WEBHOOK_MAX_BODY_BYTES),
    (r"/chat/[^/]+/files/|/conversations/folders/\d+/files/", CHAT_UPLOAD_MAX_BYTES + BODY_ROOM),
    (r"/admin/|/widget/[^/]+/files/|/notes/", DEFAULT_FILE_LOADING_SIZE_LIMIT + BODY_ROOM),
    (r"", DATA_UPLOAD_MAX_MEMORY_SIZE),
)
"""Pairs of a pattern for Django's paths and the maximum number of bytes in a request body. The
first pattern that matches applies.
"""
CORS_ALLOWED_ORIGINS = env.origins("CORS_ALLOWED_ORIGINS", everybody=True)
"""The origins of pages that can call the gateway and read its responses, with a key and without
cookies.
"""
GATEWAY_MAX_DEPTH = 64
GATEWAY_MAX_MESSAGES = 10_000
HEARTBEAT_SECONDS = 15.0

RUN_LEASE_SECONDS = 10.0
"""Another process takes over a run if the run's lease has not been renewed for this many seconds.
"""
RUNS_PER_PERSON = env.integer("RUNS_PER_PERSON", 5, least=1, also=0)
"""The maximum number of concurrent answers per user on the chat page, across all processes. Further
answers are queued.
"""
RUNS_PER_KEY = env.integer("RUNS_PER_KEY", 1_000, least=1, also=0)
"""The maximum number of concurrent answers per API key, or per caller of DIAL Core. In the gateway,
the limit applies across all processes if they share Redis, or else in each process.
"""
RUNS_PER_APPLICATION = env.integer("RUNS_PER_APPLICATION", 2_000, least=1, also=0)
"""The maximum number of concurrent runs per application on the chat page, across all processes. The
gateway counts its runs separately, with the same limit.
"""
RUNS_PER_PROCESS = 2_000
"""The maximum number of concurrent runs per process, on the chat page and in all APIs. Above this
limit, runs on the chat page are queued, and gateway runs are rejected.
"""
PERSON_REQUESTS_PER_MINUTE = env.integer("PERSON_REQUESTS_PER_MINUTE", 0, least=0)
"""The maximum number of questions per user per minute. The limit applies across all processes if
they share Redis, or else in each process. Zero means no limit.
"""
PERSON_TOKENS_PER_MINUTE = env.integer("PERSON_TOKENS_PER_MINUTE", 0, least=0)
"""The maximum number of tokens per minute in a user's questions and answers. Above this limit,
further questions are rejected.
"""
KEY_REQUESTS_PER_MINUTE = env.integer("KEY_REQUESTS_PER_MINUTE", 0, least=0)
"""The maximum number of requests per minute for an API key without its own limit, or for a caller
of DIAL Core.
"""
KEY_TOKENS_PER_MINUTE = env.integer("KEY_TOKENS_PER_MINUTE", 0, least=0)
FIGURES = ("model", "version", "tokens", "cost", "first_text", "seconds", "tools")
ANSWER_FIGURES = env.choices("ANSWER_FIGURES", FIGURES)
"""The metrics of an answer that users see on the page. `none` hides all metrics."""
CONVERSATION_TITLES = env.choice("CONVERSATION_TITLES", "auto", ("auto", "question", "model"))
"""The source of conversation titles, unless the manifest sets it. `auto`: a model, if the
application has one that can write titles; `question`: the beginning of the question; `model`:
always a model.
"""
CONVERSATION_MIRROR = env.text("CONVERSATION_MIRROR")
"""The folder into which each conversation is written after each turn, or empty for none."""
SHARES_FOR_ANYONE = env.boolean("SHARES_FOR_ANYONE", False)
"""If true, shared conversations can be opened without signing in, provided that their application
also allows this.
"""
A2A_PUSH_PRIVATE_HOSTS = env.words("A2A_PUSH_PRIVATE_HOSTS")
"""The hosts on private networks that can receive A2A push notifications, if they are also in
PRIVATE_NETWORK_ALLOWLIST.
"""
CHAT_SCRIPTS = env.words("CHAT_SCRIPTS")
"""The URLs of additional scripts that the chat page loads. They can add tools."""

METRICS_TOKEN = env.confidential("METRICS_TOKEN")
"""The bearer token for requests for metrics. If it is set, the process collects metrics and serves
them at `/metrics`.
"""
DEV_ENDPOINTS = env.boolean("DEV_ENDPOINTS", False)
"""If true, pages for developers are available under `/dev/`."""

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", LOG_LEVELS)
QUICKAPP_LOG_LEVEL = env.choice("QUICKAPP_LOG_LEVEL", LOG_LEVEL, LOG_LEVELS)
"""The lowest level at which QuickApps's own log records are logged."""
LOG_PAYLOADS = env.boolean("LOG_PAYLOADS", False)
"""If true, contents of requests and responses are logged at the DEBUG level: for troubleshooting,
not for production.
"""
LOG_PAYLOADS_MAX_LENGTH = env.integer("LOG_PAYLOADS_MAX_LENGTH", 2000, least=1)
DIAL_SDK_LOG_FORMAT = env.choice("DIAL_SDK_LOG_FORMAT", "text", ("text", "json"))
DIAL_SDK_TEXT_LOG_FORMAT = env.parse_variable(
    "DIAL_SDK_TEXT_LOG_FORMAT", "", read_text_format, "a format such as %(levelname)s %(message)s"
)
"""The format of text log records, or empty for the format of `TextFormatter`."""
DIAL_SDK_JSON_LOG_FORMAT = env.parse_variable(
    "DIAL_SDK_JSON_LOG_FORMAT",
    None,
    read_json_template,
    'a JSON object of formats, such as {"level": "%(levelname)s", "message": "%(message)s"}',
)
"""The template of JSON log records, or None for the format of `JsonFormatter`."""
LOGGING = logging_of(
    root=LOG_LEVEL,
    own=QUICKAPP_LOG_LEVEL,
    form=DIAL_SDK_LOG_FORMAT,
    text_format=DIAL_SDK_TEXT_LOG_FORMAT,
    json_template=DIAL_SDK_JSON_LOG_FORMAT,
    payloads=LOG_PAYLOADS,
    longest_payload=LOG_PAYLOADS_MAX_LENGTH,
)
