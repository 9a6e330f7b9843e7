"""Every setting, from the environment. docs/settings.md says what each is for."""

from __future__ import annotations

import os
from pathlib import Path

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.urls import reverse_lazy

from quickapps_site import environment as env
from quickapps_site.certificates import trust_authorities
from quickapps_site.identity_providers import read_providers
from quickapps_site.logs import logging_of, read_json_template, read_text_format

django_stubs_ext.monkeypatch()  # makes ModelAdmin[Model] work at run time

# Read when NumPy is first imported, which everything that imports it does after the settings. With
# a thread for each processor, embedding a short text takes ten times as long on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("DATA_DIR") or BASE_DIR / "var")
VAR_DIR.mkdir(parents=True, exist_ok=True)

USE_SYSTEM_CA_CERTS = env.boolean("USE_SYSTEM_CA_CERTS", False)
"""Whether outgoing TLS connections trust the authorities in `CA_CERTIFICATES_DIR` too."""
CA_CERTIFICATES_DIR = Path(env.text("CA_CERTIFICATES_DIR", "/certificates"))
if USE_SYSTEM_CA_CERTS:
    trust_authorities(CA_CERTIFICATES_DIR, VAR_DIR / "ca-certificates.pem")

# --- Security ---------------------------------------------------------------------------------

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret("SECRET_KEY", VAR_DIR / "secret.key")
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
SALT_KEY = env.words("SALT_KEY") or ["quickapps"]
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
if "*" in ALLOWED_HOSTS and not DEBUG:
    raise ImproperlyConfigured(
        "ALLOWED_HOSTS is '*', which switches off the origin check of WebSockets; "
        "write the host names, separated by commas."
    )
HTTPS = env.boolean("HTTPS", False)
"""Whether people reach the server through TLS (a proxy in front of it)."""
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
COOKIES_SAMESITE = env.choice("COOKIES_SAMESITE", "Lax", ("Lax", "Strict", "None"))
"""`None` is for a frame on a page of another site: browsers take it over TLS only."""
if COOKIES_SAMESITE == "None" and not HTTPS:
    raise ImproperlyConfigured("COOKIES_SAMESITE is 'None', which needs HTTPS=true.")
SESSION_COOKIE_SAMESITE = COOKIES_SAMESITE
CSRF_COOKIE_SAMESITE = COOKIES_SAMESITE
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, least=1)
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
"""Their `X-Forwarded-For` and `X-Forwarded-Proto` say who asks and how, instead of the connection."""
SITE_URL = env.url("SITE_URL", f"http://127.0.0.1:{PORT}", ("http", "https")).rstrip("/")
"""Where this server reaches itself: what a REST tool's address that begins with / is joined to."""

PUBLIC_URL = env.url("PUBLIC_URL", SITE_URL, ("http", "https")).rstrip("/")
"""Where people reach it: what links in mail begin with."""

# --- Django -----------------------------------------------------------------------------------

INSTALLED_APPS = [
    # Before the static files, which have a `runserver` too.
    "quickapps_site.development_server",
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
    "apps.accounts",
    "apps.workspace.local",
    "apps.notes",
    "apps.schedules",
    "apps.catalog",
    "apps.insights",
    "apps.live",
    "apps.cases",
    "apps.feedback",
    "apps.chat",
    "apps.console",
    "apps.triggers",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.catalog.policies.PathPolicyMiddleware",
    "quickapps_site.encodings.read_forms_as_utf8",
    "quickapps_site.nul.refuse_nul_in_forms",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.chat.languages.LanguageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "apps.accounts.sessions.SeenSessionMiddleware",
    "apps.accounts.second_factors.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "apps.catalog.history.actors.remember_request",
]

ROOT_URLCONF = "quickapps_site.urls"
ASGI_APPLICATION = "quickapps_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"bundles": "quickapps_site.bundle_tags"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "apps.chat.own_budgets.own_budgets",
                "apps.chat.composer.preferences.preferences",
                "apps.chat.team_switch.own_teams",
            ],
        },
    },
]

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # widgets have templates in DIRS

DATABASES = {"default": env.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'db.sqlite3'}")}
DATABASE_THREADS = env.integer("DATABASE_THREADS", 6, least=1)
DATABASE_LOCK_SECONDS = env.seconds("DATABASE_LOCK_SECONDS", 5.0, most=3600.0, zero=True)
DATABASE_STATEMENT_SECONDS = env.seconds(
    "DATABASE_STATEMENT_SECONDS", 60.0, most=86_400.0, zero=True
)
for _database in DATABASES.values():
    if "pool" in _database.get("OPTIONS", {}):  # requests to Django's views use the others
        _database["OPTIONS"]["pool"]["max_size"] = DATABASE_THREADS + 10
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
"""Who gets an account without an administrator making it."""
EMAIL = env.mail("EMAIL_URL")
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
    raise ImproperlyConfigured("EMAIL_URL is set without EMAIL_FROM, the address of the sender.")

ACCOUNT_ADAPTER = "apps.accounts.adapter.AccountAdapter"
# Accounts that administrators make need no address; those of sign_up.py wait until it is confirmed.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_CHANGE_EMAIL = True  # one address, which is replaced when the new one is confirmed
# Whoever finds a browser signed in could else reset the password through an address of their own.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# An address that is not confirmed is nobody's: somebody else may write it down too.
ACCOUNT_PREVENT_ENUMERATION = "strict"
ACCOUNT_FORMS = {"add_email": "apps.accounts.address_pages.AddressForm"}
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = SENDS_MAIL
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False  # who may not see a page may sign in as somebody else
SIGN_IN_FAILURES_PER_ADDRESS = env.integer("SIGN_IN_FAILURES_PER_ADDRESS", 50, least=5)
ACCOUNT_RATE_LIMITS = {
    "login": None,  # what succeeds is not counted
    "login_failed": "5/5m/key",
    "login_failed_by_address": f"{SIGN_IN_FAILURES_PER_ADDRESS}/5m/ip",
    "setup": "10/5m/ip",
}
MFA_ADAPTER = "apps.accounts.second_factors.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_REQUIRED_FOR_STAFF = env.boolean("MFA_REQUIRED_FOR_STAFF", False)
PERSONAL_API_KEYS = env.boolean("PERSONAL_API_KEYS", True)
"""Whether people make keys for programs, which may use what they may use themselves."""
REQUIRE_SECOND_PUBLISHER = env.boolean("REQUIRE_SECOND_PUBLISHER", False)
"""Whether two people publish each application; else only those where it is ticked."""
PASSWORD_SIGN_IN = env.boolean("PASSWORD_SIGN_IN", True)
"""Whether a password is enough to sign in; superusers always may, in case a provider is away."""
SOCIALACCOUNT_ADAPTER = "apps.workspace.identity_providers.GuardedSocialAdapter"
SOCIALACCOUNT_PROVIDERS = read_providers(env.text("SIGN_IN_PROVIDERS"))
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_EMAIL_REQUIRED = False
SOCIALACCOUNT_QUERY_EMAIL = True
ALLAUTH_TRUSTED_PROXY_COUNT = env.integer("TRUSTED_PROXY_COUNT", 0, least=0)
"""Proxies in front that add the address they see to X-Forwarded-For; it is ignored without any."""

LANGUAGE_CODE = "en"
LANGUAGES = (("en", "English"), ("de", "Deutsch"), ("uk", "Українська"), ("ar", "العربية"))
"""Of the pages for people, by the names that they have in the language; operators read English."""
LANGUAGE_COOKIE_NAME = "language"
LOCALE_PATHS = [BASE_DIR / "quickapps_site" / "locale"]
FORMAT_MODULE_PATH = "quickapps_site.formats"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("STATIC_DIR") or VAR_DIR / "static")
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "quickapps_site.static_files.BuiltFiles"},
}
MEDIA_ROOT = VAR_DIR / "files"
WHITENOISE_USE_FINDERS = True
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- What several processes share -------------------------------------------------------------

CACHE_ENTRIES = 10_000
"""Of a process; with few, whoever fails to sign in often could push their own count out."""
WEB_CONCURRENCY = env.integer("WEB_CONCURRENCY", 1, least=1)
REDIS_URL = env.url("REDIS_URL", "", ("redis", "rediss"))
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "quickapps_site.caches.RedisOrLocalCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {
                "MAX_ENTRIES": CACHE_ENTRIES,
                "socket_connect_timeout": 1.0,
                "socket_timeout": 1.0,
            },
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

# --- What browsers may load -------------------------------------------------------------------

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
        # Also what a frame may turn to by itself, so that it carries nothing to other hosts.
        "frame-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

ALLOWED_FRAME_ANCESTORS = env.origins("ALLOWED_FRAME_ANCESTORS", patterns=True)
"""Whose pages may frame the editor of applications: DIAL's chat. Nothing else can be framed."""
ALLOWED_ORIGIN = env.origins("ALLOWED_ORIGIN") or [
    origin for origin in ALLOWED_FRAME_ANCESTORS if "*" not in origin
]
"""Of the pages that the editor talks to; empty leaves it to the policy above."""

# The admin's widgets compile expressions that stand in its pages, and its theme writes styles.
ADMIN_POLICY = {"script-src": [SELF, NONCE, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}
CONTENT_SECURITY_POLICIES = {
    "admin:index": ADMIN_POLICY,
    "ai-latency": ADMIN_POLICY,
    # The library that the form of manifests is made with writes styles.
    "dial-editor": {
        "style-src": [SELF, UNSAFE_INLINE],
        "frame-ancestors": ALLOWED_FRAME_ANCESTORS or [NONE],
    },
}
"""What pages below an address (by the name of its URL) may load in exception."""

# --- The admin --------------------------------------------------------------------------------

UNFOLD = {
    "SITE_TITLE": "QuickApps",
    "SITE_HEADER": "QuickApps",
    "SITE_SUBHEADER": "Administration",
    "SITE_SYMBOL": "forum",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": reverse_lazy("favicon")},
    ],
    "SITE_URL": "/",
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(97% .014 254.604)",
            "100": "oklch(93.2% .032 255.585)",
            "200": "oklch(88.2% .059 254.128)",
            "300": "oklch(80.9% .105 251.813)",
            "400": "oklch(70.7% .165 254.624)",
            "500": "oklch(62.3% .214 259.815)",
            "600": "oklch(54.6% .245 262.881)",
            "700": "oklch(48.8% .243 264.376)",
            "800": "oklch(42.4% .199 265.638)",
            "900": "oklch(37.9% .146 265.522)",
            "950": "oklch(28.2% .091 267.935)",
        },
    },
    "SCRIPTS": [
        lambda request: static("console/landmarks.js"),
        lambda request: static("console/palette.js"),
    ],
    "STYLES": [
        lambda request: static("console/admin.css"),
        lambda request: static("console/palette.css"),
    ],
    "DASHBOARD_CALLBACK": "apps.console.admin.dashboard.overview",
    "SIDEBAR": {
        "show_search": False,
        "navigation": [
            {
                "title": "Catalog",
                "items": [
                    {
                        "title": "Applications",
                        "icon": "forum",
                        "link": reverse_lazy("admin:catalog_application_changelist"),
                        "permission": "apps.console.operated.may_view_applications",
                    },
                    {
                        "title": "Predefined content",
                        "icon": "layers",
                        "link": reverse_lazy("admin:catalog_contentitem_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "catalog.view_contentitem"
                        ),
                    },
                    {
                        "title": "Cases",
                        "icon": "rule",
                        "link": reverse_lazy("admin:cases_case_changelist"),
                        "permission": lambda request: request.user.has_perm("cases.view_case"),
                    },
                    {
                        "title": "Feedback",
                        "icon": "thumbs_up_down",
                        "link": reverse_lazy("admin:feedback_feedback_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "feedback.view_feedback"
                        ),
                    },
                    {
                        "title": "Deployments",
                        "icon": "network_node",
                        "link": reverse_lazy("admin:workspace_deployment_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "workspace.view_deployment"
                        ),
                    },
                    {
                        "title": "Secrets",
                        "icon": "lock",
                        "link": reverse_lazy("admin:workspace_secret_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "workspace.view_secret"
                        ),
                    },
                    {
                        "title": "Shared files",
                        "icon": "folder_shared",
                        "link": reverse_lazy("admin:workspace_sharedfile_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "workspace.view_sharedfile"
                        ),
                    },
                    {
                        "title": "MCP servers",
                        "icon": "terminal",
                        "link": reverse_lazy("admin:workspace_mcpserver_changelist"),
                        "active": "apps.console.admin.dashboard.is_mcp_server_page",
                        "permission": "apps.console.admin.mcp_sessions.may_administer",
                    },
                    {
                        "title": "MCP tool descriptions",
                        "icon": "rule",
                        "link": reverse_lazy("admin:workspace_tooldescription_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "workspace.view_tooldescription"
                        ),
                    },
                    {
                        "title": "System messages",
                        "icon": "campaign",
                        "link": reverse_lazy("admin:catalog_systemmessage_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "catalog.view_systemmessage"
                        ),
                    },
                    {
                        "title": "Shared prompts",
                        "icon": "short_text",
                        "link": reverse_lazy("admin:catalog_savedprompt_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "catalog.view_savedprompt"
                        ),
                    },
                    {
                        "title": "MCP sessions",
                        "icon": "cable",
                        "link": reverse_lazy("admin:workspace_mcpserver_sessions"),
                        "permission": "apps.console.admin.mcp_sessions.may_administer",
                    },
                ],
            },
            {
                "title": "Use",
                "items": [
                    {
                        "title": "Runs in progress",
                        "icon": "pending_actions",
                        "link": reverse_lazy("admin:runs_run_changelist"),
                        "permission": lambda request: request.user.has_perm("runs.view_run"),
                    },
                    {
                        "title": "Runs",
                        "icon": "monitoring",
                        "link": reverse_lazy("admin:runs_runsummary_changelist"),
                        "permission": lambda request: request.user.has_perm("runs.view_runsummary"),
                    },
                    {
                        "title": "Audit",
                        "icon": "policy",
                        "link": reverse_lazy("admin:accounts_auditentry_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "accounts.view_auditentry"
                        ),
                    },
                    {
                        "title": "Usage",
                        "icon": "bar_chart",
                        "link": reverse_lazy("admin:insights_usagesum_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "insights.view_usagesum"
                        ),
                    },
                    {
                        "title": "Prices",
                        "icon": "payments",
                        "link": reverse_lazy("admin:insights_price_changelist"),
                        "permission": lambda request: request.user.has_perm("insights.view_price"),
                    },
                    {
                        "title": "Budgets",
                        "icon": "savings",
                        "link": reverse_lazy("admin:insights_budget_changelist"),
                        "permission": lambda request: request.user.has_perm("insights.view_budget"),
                    },
                ],
            },
            {
                "title": "Triggers",
                "items": [
                    {
                        "title": "Webhooks",
                        "icon": "webhook",
                        "link": reverse_lazy("admin:triggers_webhook_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "triggers.view_webhook"
                        ),
                    },
                    {
                        "title": "Subscriptions",
                        "icon": "notifications",
                        "link": reverse_lazy("admin:triggers_subscription_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "triggers.view_subscription"
                        ),
                    },
                    {
                        "title": "Deliveries",
                        "icon": "outgoing_mail",
                        "link": reverse_lazy("admin:triggers_delivery_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "triggers.view_delivery"
                        ),
                    },
                ],
            },
            {
                "title": "Access",
                "items": [
                    {
                        "title": "API keys",
                        "icon": "key",
                        "link": reverse_lazy("admin:accounts_apikey_changelist"),
                        "permission": lambda request: request.user.has_perm("accounts.view_apikey"),
                    },
                    {
                        "title": "Operator keys",
                        "icon": "passkey",
                        "link": reverse_lazy("admin:catalog_operatorkey_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "catalog.view_operatorkey"
                        ),
                    },
                    {
                        "title": "Users",
                        "icon": "person",
                        "link": reverse_lazy("admin:auth_user_changelist"),
                        "permission": lambda request: request.user.has_perm("auth.view_user"),
                    },
                    {
                        "title": "Service accounts",
                        "icon": "smart_toy",
                        "link": reverse_lazy("admin:accounts_serviceaccount_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "accounts.view_serviceaccount"
                        ),
                    },
                    {
                        "title": "Groups",
                        "icon": "group",
                        "link": reverse_lazy("admin:auth_group_changelist"),
                        "permission": lambda request: request.user.has_perm("auth.view_group"),
                    },
                    {
                        "title": "Groups of providers",
                        "icon": "sync_alt",
                        "link": reverse_lazy("admin:accounts_claimmapping_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "accounts.view_claimmapping"
                        ),
                    },
                    {
                        "title": "Linked accounts",
                        "icon": "link",
                        "link": reverse_lazy("admin:socialaccount_socialaccount_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "socialaccount.view_socialaccount"
                        ),
                    },
                    {
                        "title": "Sign-ups",
                        "icon": "how_to_reg",
                        "link": reverse_lazy("admin:accounts_signup_changelist"),
                        "permission": lambda request: request.user.has_perm("accounts.view_signup"),
                    },
                    {
                        "title": "Invitations",
                        "icon": "mail",
                        "link": reverse_lazy("admin:accounts_invitation_changelist"),
                        "permission": lambda request: request.user.has_perm(
                            "accounts.view_invitation"
                        ),
                    },
                    {
                        "title": "Teams",
                        "icon": "groups",
                        "link": reverse_lazy("admin:accounts_team_changelist"),
                        "permission": lambda request: request.user.has_perm("accounts.view_team"),
                    },
                ],
            },
            {
                "title": "Elsewhere",
                "items": [
                    {
                        "title": "Chat page",
                        "icon": "chat",
                        "link": "/",
                        "active": False,
                    },
                    {
                        "title": "API description",
                        "icon": "api",
                        "link": reverse_lazy("api-docs"),
                    },
                ],
            },
        ],
    },
}

# --- The API for scripts ----------------------------------------------------------------------

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
    "DESCRIPTION": "Applications and deployments, for the scripts of an operator.",
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
    "apps.capabilities.skills.capability.skills",
    "apps.capabilities.memory.capability.memory",  # its rules stand below the skills
    "apps.capabilities.subagents.capability.subagents",
    "apps.capabilities.subagents.spawn.spawn_agent",
    "apps.capabilities.todo.capability.todo",
    "apps.capabilities.summary.capability.summary",
    "apps.capabilities.hooks.capability.hooks",  # before tools are withheld: it calls those as well
    "apps.capabilities.discovery.capability.discovery",
]

RUN_LISTENERS = [
    "apps.triggers.deliveries.note_runs",
    "apps.triggers.mail_notices.note_runs",
]
"""Are told that runs ended or wait, in the transaction that writes it."""

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
"""What the system prompt is composed of, in the order in which the model reads it."""
PLATFORM_PROMPT = env.text("PLATFORM_PROMPT", "platform")
"""The predefined prompt above all applications; there is none until somebody writes it."""

PREDEFINED_DIR = BASE_DIR / "predefined"
PREDEFINED_EXTRA_PATHS = env.paths("PREDEFINED_EXTRA_PATHS", deprecated="PREDEFINED_BASE_PATH")
"""Further layers of predefined content, above the built-in one; a later one wins."""
CONTENT_PATHS = env.paths("CONTENT_PATHS")
"""Managed directories of applications: what lies there answers, and is read-only in the admin."""
CONFIG_PROMPT_MAPPING = env.groups("CONFIG_PROMPT_MAPPING")
"""Which predefined prompt is meant for which deployments; it warns of others and changes no run."""
PROMPT_VARIABLES = env.mapping("PROMPT_VARIABLES", besides=("today", "locale"))
"""What `{name}` in predefined prompts stands for, beside `{today}` and `{locale}`."""
APP_SCHEMA_ID = env.url(
    "APP_SCHEMA_ID",
    "https://mydial.epam.com/custom_application_schemas/quickapps2",
    ("http", "https"),
)
CATALOG_MAX_AGE_SECONDS = env.seconds("CATALOG_MAX_AGE_SECONDS", 1.0, most=60, zero=True)
HISTORY_DAYS = env.integer("HISTORY_DAYS", 365, least=1, also=0)
"""How long `clean_history` leaves changes of definitions; zero is for ever."""
RUN_ROWS_DAYS = env.integer("RUN_ROWS_DAYS", 90, least=1, also=0)
"""How long the rows of runs stay; zero is for ever."""
MODEL_REQUESTS = env.choice("MODEL_REQUESTS", "page", ("none", "page", "all"))
"""The runs of which is kept what their models were asked: of the page, or of every door."""
MODEL_REQUESTS_SHOWN = env.boolean("MODEL_REQUESTS_SHOWN", True)
"""Whether people can read them of their own answers."""
AUDIT = env.boolean("AUDIT", True)
AUDIT_DAYS = env.integer("AUDIT_DAYS", 365, least=1, also=0)
"""How long events of the audit stay; zero is for ever."""
USAGE_DAYS = env.integer("USAGE_DAYS", 400, least=1, also=0)
"""How long the rows of calls of models and tools stay; zero is for ever."""
MCP_PINNED_DESCRIPTIONS = env.boolean("MCP_PINNED_DESCRIPTIONS", True)
"""Whether a tool of an MCP server is withheld once its description has changed."""
ENABLE_PREVIEW_FEATURES = env.boolean("ENABLE_PREVIEW_FEATURES", False)
DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID = env.text("DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID")
DEFAULT_AGENT_MAX_ITERATIONS = env.integer("DEFAULT_AGENT_MAX_ITERATIONS", 15, least=1, also=-1)
TEXT_TOOLS = env.boolean("TEXT_TOOLS", True)
"""Whether models that cannot call tools are told of them in their prompt, and call them in text."""
ANSWER_MAX_CHARS = env.integer("ANSWER_MAX_CHARS", 4_000_000, least=1000)
"""Of all that a model says in one run: text, thinking and arguments of calls. Some million tokens;
models are known to answer with up to 128,000 at a time."""
MIN_TOOLS_FOR_DEFERRAL = env.integer("MIN_TOOLS_FOR_DEFERRAL", 10, least=1)
TOOL_DISCOVERY_SECONDS = env.seconds("TOOL_DISCOVERY_SECONDS", 30.0, most=3600)
"""For a line of names. A model that takes longer is slower than searching by words."""
MODEL_RETRY_SECONDS = env.seconds("MODEL_RETRY_SECONDS", 1.0, most=30.0)
"""The longest first pause before a model whose service failed is asked again; it doubles twice."""
MODEL_CALL_SECONDS = env.seconds("MODEL_CALL_SECONDS", 3600.0, most=86_400)
"""Of one request, whatever arrives meanwhile: an hour, as a deployment that is a tool has."""
DEFAULT_TOOL_TIMEOUT_SECONDS = env.seconds("DEFAULT_TOOL_TIMEOUT_SECONDS", 300.0, most=3600)
FALLBACK_SILENCE_SECONDS = env.seconds("FALLBACK_SILENCE_SECONDS", 60.0, most=3600, zero=True)
"""Before the first word of a model that has a fallback; people do not wait the five minutes that a
model without one has. Zero is as long as those."""
BREAKER_FAILURES = env.integer("BREAKER_FAILURES", 5, least=1, also=0)
"""In a row: one question to a dead service is four of them. Zero is off."""
BREAKER_WINDOW_SECONDS = env.seconds("BREAKER_WINDOW_SECONDS", 60.0, most=3600)
BREAKER_OPEN_SECONDS = env.seconds("BREAKER_OPEN_SECONDS", 30.0, most=3600)
"""What most limits of services need to have room again."""
TOOL_RESULT_CHARACTERS = env.integer("TOOL_RESULT_CHARACTERS", 400_000, least=1000)
"""About 100,000 tokens, most models' whole window: more cannot be of use."""
TOOL_RESULT_DURATION = env.integer("TOOL_RESULT_DURATION", -1, least=-1)
"""Turns in which models read a result, -1 for ever; for tools of which applications say nothing."""
APPROVAL_MODE = env.choice("APPROVAL_MODE", "auto", ("auto", "confirm"))
"""Whether calls of tools wait for a person, in applications that do not say."""
APPROVAL_DENY = env.patterns("APPROVAL_DENY")
"""Calls of tools that no application makes."""
FAILED_TURNS_MOST = env.integer("FAILED_TURNS_MOST", 2, least=0)
DEAD_END_CHECK = env.boolean("DEAD_END_CHECK", False)
"""Whether an answer ends where the model says that it cannot proceed, and calls tools anyway."""
DEAD_END_PHRASES = env.patterns(
    "DEAD_END_PHRASES",
    (r"\b(?:cannot|can not|can['\u2019]t|unable to) (?:proceed|continue|go on)\b",),
)
TOOL_BATCH_SECONDS = env.seconds("TOOL_BATCH_SECONDS", 0.0, most=86_400, zero=True)
"""Of all calls that a model makes at once; zero is without end, each has a time of its own."""
TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD = env.integer(
    "TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD", 40_000, least=1
)
"""Bytes of a result of a tool that are much for a model."""
TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT = env.boolean(
    "TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT", True
)
"""Whether such results go into files, in applications with file tools that do not say."""
TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS = env.texts("TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS")
SUBAGENT_TIMEOUT_SECONDS = env.seconds("SUBAGENT_TIMEOUT_SECONDS", 600.0, most=3600)
"""Of one task, from when it is begun; applications can only narrow it."""
SUBAGENT_MAX_CONCURRENT_SPAWNS = env.integer("SUBAGENT_MAX_CONCURRENT_SPAWNS", 4, least=1)
"""Tasks that are worked on at the same time in this process; others wait for their turn."""
DEFAULT_STAGE_DISPLAY_LEVEL = env.choice(
    "DEFAULT_STAGE_DISPLAY_LEVEL", "", ("none", "error", "info", "debug")
)
"""Wins over every application's own level; empty leaves it to them."""
DEFAULT_FILE_LOADING_SIZE_LIMIT = env.integer(
    "DEFAULT_FILE_LOADING_SIZE_LIMIT", 10_485_760, least=1
)
FILES_MAX_BYTES_PER_USER = env.integer(
    "FILES_MAX_BYTES_PER_USER", 1024 * 1024 * 1024, least=1, also=0
)
"""Of all files that one owner keeps here; zero is no limit."""
FILES_MAX_COUNT_PER_USER = env.integer("FILES_MAX_COUNT_PER_USER", 10_000, least=1, also=0)
MEMORY_CACHE_MAX_BYTES = env.integer("MEMORY_CACHE_MAX_BYTES", 64 * 1024 * 1024, least=1)
"""Of what this process has read of people's memories, to search it again without reading."""
DOCUMENTS_SECONDS = env.seconds("DOCUMENTS_SECONDS", 30.0, most=300)
"""For the text of one document, in a process of its own."""
OPENAPI_DOCUMENT_MB = env.integer("OPENAPI_DOCUMENT_MB", 32, least=1, most=256)
"""Of a service's description that tools are made of. GitHub's has 13 MB."""
DOCUMENTS_MEMORY_MB = env.integer("DOCUMENTS_MEMORY_MB", 512, least=256)
DOCUMENTS_CACHE_MB = env.integer("DOCUMENTS_CACHE_MB", 64, least=1)
"""Of each process, for documents that were read and may be asked about again."""
CORPUS_DOCUMENTS = env.integer("CORPUS_DOCUMENTS", 200, least=0)
"""Attached files of one application that are made ready to be searched; 0: none anywhere."""
CORPUS_CHUNKS = env.integer("CORPUS_CHUNKS", 4_000, least=1)
"""Of all attached files of one application: each takes 50 ms of the model that comes with the server, and
about 12 KB of `DOCUMENTS_CACHE_MB`, unless PostgreSQL with its extension `vector` searches them."""
CORPUS_COMPARE_SECONDS = env.seconds("CORPUS_COMPARE_SECONDS", 180.0, most=86_400)
"""Until a change of attached files is noticed that nobody told of."""
DOCUMENTS_SCANNED_PAGES = env.integer("DOCUMENTS_SCANNED_PAGES", 30, least=1, also=0)
"""Of one PDF, that models are asked to read because they are images; zero is none."""
EXTERNAL_URL_FETCH_ENABLED = env.boolean("EXTERNAL_URL_FETCH_ENABLED", False)
"""Whether files are loaded from the Internet, for models and users; applications can only narrow it."""
EXTERNAL_URL_FETCH_HOST_ALLOWLIST = env.words("EXTERNAL_URL_FETCH_HOST_ALLOWLIST")
"""`host` or `*.host`; empty means every public host."""
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
"""Of kind embedding; empty means the embedder that comes with us."""
DEMO_MODEL_DELAY_SECONDS = env.seconds("DEMO_MODEL_DELAY_SECONDS", 0.02, most=10)
"""Between two words of the built-in demo model, so that its answers are seen to stream."""
PRIVATE_NETWORK_ALLOWLIST = env.words(
    "PRIVATE_NETWORK_ALLOWLIST", ("localhost", "127.0.0.1") if DEBUG else ()
)
"""Hosts (or `*.suffix`) on private networks that addresses written in a manifest may name."""

DIAL_URL = env.url("DIAL_URL", "", ("http", "https")).rstrip("/")
"""Where DIAL Core is; empty means that there is none."""
DIAL_API_VERSION = env.text("DIAL_API_VERSION", "2025-01-01-preview")
DIAL_METADATA_CACHE_SECONDS = env.seconds(
    "DIAL_METADATA_CACHE_SECONDS", 60.0, most=86_400, zero=True
)
"""How old the manifest that Core keeps, and what it said of a model, may be; 0: asked each time."""
DIAL_TOOLS_FLAG_IS_SET = env.boolean("DIAL_TOOLS_FLAG_IS_SET", False)
"""Whether Core's entries say of every model if it has tools; without a word Core lists it as false."""
DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS = env.seconds(
    "DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS", 120.0, most=3600
)
DIAL_EDITOR_API_KEY = env.text("DIAL_EDITOR_API_KEY")
"""With it the editor reads and saves the applications that Core keeps."""
DIAL_SKILLS_FILE_MAX_BYTES = env.integer("DIAL_SKILLS_FILE_MAX_BYTES", 262_144, least=1)
DIAL_SKILLS_MAX_FILES = env.integer("DIAL_SKILLS_MAX_FILES", 200, least=1)
DIAL_SKILLS_LISTING_MAX_PAGES = env.integer("DIAL_SKILLS_LISTING_MAX_PAGES", 10, least=1)
SKILL_INVOCATION_MAX_SKILLS = env.integer("SKILL_INVOCATION_MAX_SKILLS", 10, least=1)
"""Different skills that users pick in one conversation; the newest ones count."""

PY_INTERPRETER_URL = env.url("PY_INTERPRETER_URL", DIAL_URL, ("http", "https"))
"""Where DIAL's code interpreter is; empty means the sandbox that comes with us."""
PY_INTERPRETER_LOCAL_RUN = env.boolean("PY_INTERPRETER_LOCAL_RUN", False)
PY_INTERPRETER_API_KEY = env.text("PY_INTERPRETER_API_KEY")
PY_INTERPRETER_DEFAULT_SESSION_ID = env.text("PY_INTERPRETER_DEFAULT_SESSION_ID")
PY_INTERPRETER_CLIENT_MAX_RETRIES = env.integer("PY_INTERPRETER_CLIENT_MAX_RETRIES", 3, least=0)
PY_INTERPRETER_CLIENT_TIMEOUT = env.seconds("PY_INTERPRETER_CLIENT_TIMEOUT", 0.0, most=3600)
"""Wins over every application's own time-out; zero leaves it to them."""
PY_INTERPRETER_SANDBOX_SECONDS = env.seconds("PY_INTERPRETER_SANDBOX_SECONDS", 10.0, most=300)
PY_INTERPRETER_SANDBOX_MEMORY_MB = env.integer("PY_INTERPRETER_SANDBOX_MEMORY_MB", 128, least=16)
PY_INTERPRETER_SANDBOX_STATE_BYTES = env.integer(
    "PY_INTERPRETER_SANDBOX_STATE_BYTES", 131_072, least=1024
)
"""What a conversation carries of the variables, in each answer that ran code."""
PY_INTERPRETER_SANDBOX_PROCESSES = env.integer(
    "PY_INTERPRETER_SANDBOX_PROCESSES", 0, least=1, also=0
)
"""Snippets that run at the same time; zero means one for each processor, at least two."""

WEB_SEARCH_COMMAND = env.command("WEB_SEARCH_COMMAND")
"""Starts the MCP server `duckduckgo`, with which applications search the web; empty: they do not."""

MCP_PROGRAMS = {
    "py-interpreter": (
        "apps.capabilities.interpreter.server",
        (
            "PY_INTERPRETER_SANDBOX_SECONDS",
            "PY_INTERPRETER_SANDBOX_MEMORY_MB",
            "PY_INTERPRETER_SANDBOX_PROCESSES",
        ),
    ),
}
"""MCP servers that come with us, by name: a module to run, and the settings that it is told."""

GATEWAY_MAX_BODY_BYTES = env.integer("GATEWAY_MAX_BODY_BYTES", 32 * 1024 * 1024, least=1024)
REQUEST_MAX_BODY_BYTES = env.integer("REQUEST_MAX_BODY_BYTES", 2_621_440, least=1024)
"""Of a form or a document that comes with a request; as much as Django reads by itself."""
DATA_UPLOAD_MAX_MEMORY_SIZE = REQUEST_MAX_BODY_BYTES
BODY_ROOM = 1024 * 1024
"""What a form needs around its file."""
WEBHOOK_MAX_BODY_BYTES = env.integer("WEBHOOK_MAX_BODY_BYTES", 262_144, least=1024)
"""Of what a program sends to a webhook."""
IMPORT_BODY_BYTES = 64 * 1024 * 1024 + BODY_ROOM
"""Of a file with conversations of another program, as large as `apps.chat.imports.files` reads."""
OPENAPI_BODY_BYTES = 2 * OPENAPI_DOCUMENT_MB * 1_000_000 + BODY_ROOM
"""The limit for a document that is pasted into the studio; JSON escapes its quotes and line ends."""
BODY_LIMITS = (
    (r"/admin/catalog/application/\d+/studio/tools/openapi/", OPENAPI_BODY_BYTES),
    (r"/settings/data/import/", IMPORT_BODY_BYTES),
    (r"/hooks/", WEBHOOK_MAX_BODY_BYTES),
    (
        r"/admin/|/chat/[^/]+/files/|/conversations/folders/\d+/files/|/notes/",
        DEFAULT_FILE_LOADING_SIZE_LIMIT + BODY_ROOM,
    ),
    (r"", REQUEST_MAX_BODY_BYTES),
)
"""Patterns of Django's paths, and the most bytes that are sent to them. The first that matches counts."""
HEADER_SECONDS = env.seconds("HEADER_SECONDS", 20.0, most=3600)
"""For the head of a request to arrive, from when the connection is made."""
MAX_CONNECTIONS = env.integer("MAX_CONNECTIONS", 10_000, least=1)
"""Of one process, WebSockets and streamed answers included; others are answered 503."""
BODY_SECONDS = env.seconds("BODY_SECONDS", 300.0, most=3600)
"""For a body to arrive: the largest takes four and a half minutes at a million bits a second."""
CORS_ALLOWED_ORIGINS = env.origins("CORS_ALLOWED_ORIGINS", everybody=True)
"""Whose pages may ask the gateway and read its answers, with a key and without cookies."""
GATEWAY_MAX_DEPTH = 64
GATEWAY_MAX_MESSAGES = 10_000
HEARTBEAT_SECONDS = 15.0

RUN_LEASE_SECONDS = env.seconds("RUN_LEASE_SECONDS", 10.0, most=3600)
"""A run of which nothing was heard for so long belongs to a process that is gone; another takes it."""
CHAT_MAX_QUESTION_CHARS = env.integer("CHAT_MAX_QUESTION_CHARS", 100_000, least=1)
RUNS_PER_PERSON = env.integer("RUNS_PER_PERSON", 5, least=1, also=0)
"""Answers of the page that one person has at once, over all processes; further ones are queued."""
SCHEDULES_PER_PERSON = env.integer("SCHEDULES_PER_PERSON", 20, least=0)
"""That somebody keeps, in all their teams together; alarms are not counted."""
SCHEDULE_BUDGET_TOKENS = env.integer("SCHEDULE_BUDGET_TOKENS", 100_000, least=1)
"""That one run of an alarm, or of a schedule that a model made, may use unless it says otherwise."""
SUBSCRIPTION_SECRET_OVERLAP_HOURS = env.integer("SUBSCRIPTION_SECRET_OVERLAP_HOURS", 24, least=0)
"""For which the former secret of a subscription signs beside a new one."""
RUNS_PER_KEY = env.integer("RUNS_PER_KEY", 1_000, least=1, also=0)
"""The same for an API key, and for a caller of DIAL Core's; over the gateway of all processes, too,
where there is Redis, else of each process."""
RUNS_PER_APPLICATION = env.integer("RUNS_PER_APPLICATION", 2_000, least=1, also=0)
"""Of the page over all processes; and as many over the gateway, counted as above."""
RUNS_PER_PROCESS = env.integer("RUNS_PER_PROCESS", 2_000, least=1, also=0)
"""Of all doors. The page's are queued then, the gateway's are refused; zero is no limit, as above."""
PERSON_REQUESTS_PER_MINUTE = env.integer("PERSON_REQUESTS_PER_MINUTE", 0, least=0)
"""Questions of one person, over all processes where there is Redis, else in each. Zero is no limit."""
PERSON_TOKENS_PER_MINUTE = env.integer("PERSON_TOKENS_PER_MINUTE", 0, least=0)
"""Of questions and answers; further questions are refused."""
KEY_REQUESTS_PER_MINUTE = env.integer("KEY_REQUESTS_PER_MINUTE", 0, least=0)
"""The same for an API key that has no limit of its own, and for a caller of DIAL Core's."""
KEY_TOKENS_PER_MINUTE = env.integer("KEY_TOKENS_PER_MINUTE", 0, least=0)
APPLICATION_REQUESTS_PER_MINUTE = env.integer("APPLICATION_REQUESTS_PER_MINUTE", 0, least=0)
"""Of all callers of an application whose manifest has no limit of its own."""
APPLICATION_TOKENS_PER_MINUTE = env.integer("APPLICATION_TOKENS_PER_MINUTE", 0, least=0)
CASES_AT_ONCE = env.integer("CASES_AT_ONCE", 4, least=1, most=100)
"""Attempts that one run of cases makes side by side."""
FIGURES = ("model", "version", "tokens", "cost", "first_text", "seconds", "tools")
ANSWER_FIGURES = env.choices("ANSWER_FIGURES", FIGURES)
"""What the page tells people of how an answer was made; `none` tells them nothing."""
CONVERSATION_TITLES = env.choice("CONVERSATION_TITLES", "auto", ("auto", "question", "model"))
"""Who writes titles unless the manifest says it: a model if the application has one that can write
them, nobody (the question's beginning), or always a model."""
CONVERSATION_MIRROR = env.text("CONVERSATION_MIRROR")
"""A folder to which each conversation is written after each turn, "" for none."""
SHARES_FOR_ANYONE = env.boolean("SHARES_FOR_ANYONE", False)
"""Whether shared conversations may open without signing in, of applications that allow it too."""
CHAT_UPLOAD_TYPES = env.words("CHAT_UPLOAD_TYPES")
"""Types of files, such as `image/*`, that the page takes; empty means all."""
CHAT_SCRIPTS = env.words("CHAT_SCRIPTS")
"""Addresses of scripts that the chat page loads, to bring tools of their own."""

METRICS = env.boolean("METRICS", False)
"""Whether the process counts and measures, and tells it at `/metrics`."""
METRICS_TOKEN = env.text("METRICS_TOKEN")
"""Who has it may read them; empty: programs on this machine."""
DEV_ENDPOINTS = env.boolean("DEV_ENDPOINTS", False)
"""Whether there are pages for developers below `/dev/`."""

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", LOG_LEVELS)
QUICKAPP_LOG_LEVEL = env.choice("QUICKAPP_LOG_LEVEL", LOG_LEVEL, LOG_LEVELS)
"""Of what we log ourselves."""
LOG_PAYLOADS = env.boolean("LOG_PAYLOADS", False)
"""Whether what was said is logged, at the level DEBUG: for finding a mistake, not for production."""
LOG_PAYLOADS_MAX_LENGTH = env.integer("LOG_PAYLOADS_MAX_LENGTH", 2000, least=1)
DIAL_SDK_LOG_FORMAT = env.choice("DIAL_SDK_LOG_FORMAT", "text", ("text", "json"))
DIAL_SDK_TEXT_LOG_FORMAT = env.parsed(
    "DIAL_SDK_TEXT_LOG_FORMAT", "", read_text_format, "a format such as %(levelname)s %(message)s"
)
"""How a record is written as text; empty: as `TextFormatter` does."""
DIAL_SDK_JSON_LOG_FORMAT = env.parsed(
    "DIAL_SDK_JSON_LOG_FORMAT",
    None,
    read_json_template,
    'a JSON object of formats, such as {"level": "%(levelname)s", "message": "%(message)s"}',
)
"""The template of a record, None for the object of `JsonFormatter`."""
LOGGING = logging_of(
    root=LOG_LEVEL,
    own=QUICKAPP_LOG_LEVEL,
    form=DIAL_SDK_LOG_FORMAT,
    text_format=DIAL_SDK_TEXT_LOG_FORMAT,
    json_template=DIAL_SDK_JSON_LOG_FORMAT,
    payloads=LOG_PAYLOADS,
    longest_payload=LOG_PAYLOADS_MAX_LENGTH,
)
