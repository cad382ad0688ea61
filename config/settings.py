"""The one settings file, read from the environment; with no environment at all it is the embedded default."""

import contextlib
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONCE, NONE, SELF

from config import logs


class Environment(environ.Env):
    """The environment, which names a setting that should be a number and is none: a traceback would not."""

    def int(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        try:
            return super().int(var, default)
        except ValueError:
            raise SystemExit(f"{var} must be a whole number; it is {self.ENVIRON[var]!r}.") from None

    def float(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        try:
            return super().float(var, default)
        except ValueError:
            raise SystemExit(f"{var} must be a number; it is {self.ENVIRON[var]!r}.") from None


env = Environment()
BASE_DIR = Path(__file__).resolve().parent.parent

# Everything that Assay writes beside its database (broker messages, exports) lives here.
VAR_DIR = Path(env.str("ASSAY_VAR_DIR", default=str(BASE_DIR / "var")))
DEBUG = env.bool("DEBUG", default=False)
# The default only serves the embedded demo on 127.0.0.1; `check --deploy` refuses it (assay.E001).
INSECURE_SECRET_KEY = "insecure-only-for-the-embedded-demo-on-one-machine"  # noqa: S105 - public on purpose, refused in production
SECRET_KEY = env.str("SECRET_KEY", default=INSECURE_SECRET_KEY)
# Under the first the keys of studies' seals are encrypted; those after it still open what was encrypted before.
ASSAY_SEAL_SECRETS = env.list("ASSAY_SEAL_SECRETS", default=[])
INSECURE_SEAL_SECRET = "insecure-seals-prove-nothing"  # noqa: S105 - public on purpose, refused in production
# Under the first the keys of endpoints that are entered in the page are encrypted; those after it still open what was
# encrypted before. Without one none can be entered.
ASSAY_ENDPOINT_SECRETS = env.list("ASSAY_ENDPOINT_SECRETS", default=[])
LOCAL_HOSTS = ["127.0.0.1", "localhost", "[::1]", "testserver"]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=LOCAL_HOSTS)
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "config.admin.AssayAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "rest_framework",
    "knox",
    "axes",
    "drf_spectacular",
    "evaluation",
    "analytics",
    "annotator",
    "judging",
]

MIDDLEWARE = [
    # First what may be asked under any host name and without TLS; then the request's id and its line in the log.
    "config.health.health_checks",
    "config.middleware.request_log",
    "django.middleware.security.SecurityMiddleware",
    "annotator.middleware.participant_requests",
    "config.middleware.Compression",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.note_user",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    # Says that a login is delayed, in place of the page that asked for it.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.context_processors.csp_nonce",
            ],
            # Compiled templates are kept even with DEBUG: a participant's page has many partials.
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
        },
    }
]

# --- the web server (config.serve) --------------------------------------------------------------------------------
WEB_CONCURRENCY = env.int("WEB_CONCURRENCY", default=2)
ASSAY_WEB_THREADS = env.int("ASSAY_WEB_THREADS", default=4)
# Open connections of each process, slow and idle ones included; each needs a file descriptor, with a large body two.
ASSAY_WEB_CONNECTIONS = env.int("ASSAY_WEB_CONNECTIONS", default=1_000)

# --- database: SQLite unless DATABASE_URL names a PostgreSQL -------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", default="") or f"sqlite:///{VAR_DIR / 'assay.sqlite3'}"
try:
    DATABASES = {"default": {"ENGINE": "", **env.db_url_config(DATABASE_URL)}}
except ValueError:
    # Not an address: assay.E004 says so, where a traceback would print it with its password.
    DATABASES = {"default": {"ENGINE": ""}}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE makes the read-then-write transactions of claiming exact; WAL lets readers go on meanwhile.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
    }
    if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
        DATABASES["default"]["ENGINE"] = "config.sqlite3"
elif DATABASES["default"]["ENGINE"].endswith("postgresql"):
    if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
        DATABASES["default"]["ENGINE"] = "config.postgresql"
    # Statements are planned once per connection, not for every request. Off behind a pooler that shares connections
    # between transactions.
    if env.bool("ASSAY_PREPARED_STATEMENTS", default=True):
        DATABASES["default"].setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=3)
# The hot path's querysets are compiled once per process (evaluation.database.compiled_queries).
ASSAY_COMPILED_QUERIES = env.bool("ASSAY_COMPILED_QUERIES", default=True)
# Opening a connection costs as much as a request's queries, on either.
DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- judges ------------------------------------------------------------------------------------------------------
# Endpoints that members who are no superusers may make, and the key that each may be sent: URL or URL=ASSAY_KEY_NAME.
# A URL covers the paths below it.
ASSAY_ENDPOINTS_ALLOWED = env.list("ASSAY_ENDPOINTS_ALLOWED", default=[])
# Addresses that studies may send their news to, as https://hooks.example.org/; each covers the paths below it.
ASSAY_WEBHOOKS_ALLOWED = env.list("ASSAY_WEBHOOKS_ALLOWED", default=[])
# The currency of models' prices, as GBP: what models cost is added to people's pay in studies of this currency alone.
ASSAY_CURRENCY = env.str("ASSAY_CURRENCY", default="")
# The folder that holds static models for embeddings without an endpoint, a folder each; nothing outside it is read.
ASSAY_STATIC_MODELS = env.str("ASSAY_STATIC_MODELS", default="")
# The folder that holds the corpora that fragments are retrieved from, and what is relevant in them; nothing outside it
# is read.
ASSAY_CORPORA = env.str("ASSAY_CORPORA", default="")

# --- judges' runs -----------------------------------------------------------------------------------------------
# A worker works on a run for this many seconds, then queues it again, so that several runs take turns.
ASSAY_RUN_SECONDS = env.int("ASSAY_RUN_SECONDS", default=120)
# Worker processes at one run at once; each keeps as many calls in flight as its endpoint allows.
ASSAY_RUN_WORKERS = env.int("ASSAY_RUN_WORKERS", default=1)
# What a worker that was killed had in hand is free again after this many seconds.
ASSAY_RUN_LEASE_SECONDS = env.float("ASSAY_RUN_LEASE_SECONDS", default=60.0)
# How often runs that nobody works on are looked for (by beat; and whenever a worker starts).
ASSAY_RUN_SWEEP_SECONDS = env.float("ASSAY_RUN_SWEEP_SECONDS", default=30.0)
# A call that meets 429, 5xx or a timeout this often has failed; a reply that can't be read is asked for this often.
ASSAY_RUN_ATTEMPTS = env.int("ASSAY_RUN_ATTEMPTS", default=8)
ASSAY_RUN_UNREAD = env.int("ASSAY_RUN_UNREAD", default=3)
# A run whose first so many replies can't be read pauses, and later one where more than this share of its last fifty
# can't; 0 and 1: never.
ASSAY_RUN_UNREAD_FIRST = env.int("ASSAY_RUN_UNREAD_FIRST", default=5)
ASSAY_RUN_UNREAD_SHARE = env.float("ASSAY_RUN_UNREAD_SHARE", default=0.5)
# The first wait after a failure without Retry-After; it doubles with every further one, up to a minute.
ASSAY_RUN_BACKOFF_SECONDS = env.float("ASSAY_RUN_BACKOFF_SECONDS", default=1.0)
# Runs as batches: the most calls and megabytes of a batch's file, and how often a batch is asked how it stands.
ASSAY_RUN_BATCH_CALLS = env.int("ASSAY_RUN_BATCH_CALLS", default=50_000)
ASSAY_RUN_BATCH_MEGABYTES = env.float("ASSAY_RUN_BATCH_MEGABYTES", default=100.0)
ASSAY_RUN_BATCH_POLL_SECONDS = env.float("ASSAY_RUN_BATCH_POLL_SECONDS", default=60.0)

# --- panels ------------------------------------------------------------------------------------------------------
# How often beat reads open studies back from their panel, and sends what waits there.
ASSAY_PANEL_SYNC_SECONDS = env.float("ASSAY_PANEL_SYNC_SECONDS", default=600.0)
# Whoever began to ask a panel for something so long ago was lost; well above what a call takes with all its waiting.
ASSAY_PANEL_SENDING_SECONDS = env.float("ASSAY_PANEL_SENDING_SECONDS", default=600.0)

# --- Celery: Redis by REDIS_URL, otherwise messages as files on a private path --------------------------------
REDIS_URL = env.str("REDIS_URL", default="")
# Several installations may share one Redis.
REDIS_KEY_PREFIX = env.str("REDIS_KEY_PREFIX", default="assay:")
# So long it may take to connect, and to answer; a request that sends a message waits no longer than a few times that.
ASSAY_REDIS_SECONDS = env.float("ASSAY_REDIS_SECONDS", default=2.0)
_redis_patience = {"socket_connect_timeout": ASSAY_REDIS_SECONDS, "socket_timeout": ASSAY_REDIS_SECONDS}
# Kombu warns where there is no host, though files need none.
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
if REDIS_URL:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "global_keyprefix": REDIS_KEY_PREFIX,
        # A task that takes longer than this is delivered again while it runs; well above a worker's stay at a run.
        "visibility_timeout": max(3_600, 4 * ASSAY_RUN_SECONDS),
        **_redis_patience,
    }
else:
    _messages = VAR_DIR / "broker"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_messages / "messages"),
        "data_folder_out": str(_messages / "messages"),
        "control_folder": str(_messages / "control"),
        "processed_folder": str(_messages / "processed"),
        "polling_interval": 0.05,
    }
    with contextlib.suppress(OSError):  # assay.E006 says it in words
        for _folder in ("messages", "control", "processed"):
            (_messages / _folder).mkdir(parents=True, exist_ok=True, mode=0o700)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Once more, on a new connection: the first may have been kept from before Redis was restarted.
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A child that has more memory in use after a task is replaced, in KB.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = env.int("ASSAY_WORKER_CHILD_MB", default=150) * 1024
CELERY_BEAT_SCHEDULE = {
    "sweep-runs": {"task": "judging.tasks.sweep_runs", "schedule": ASSAY_RUN_SWEEP_SECONDS},
    "start-anchors": {"task": "judging.tasks.start_anchors", "schedule": 600.0},
    "sync-panels": {"task": "annotator.panels.tasks.sync_panels", "schedule": ASSAY_PANEL_SYNC_SECONDS},
    "sweep-erased": {"task": "annotator.panels.tasks.sweep_erased", "schedule": 300.0},
    "delete-due-ids": {"task": "annotator.panels.tasks.delete_due_ids", "schedule": 3_600.0},
    "send-waiting-jobs": {"task": "evaluation.tasks.send_waiting_jobs", "schedule": ASSAY_RUN_SWEEP_SECONDS},
    "count-progress": {"task": "evaluation.tasks.count_progress", "schedule": 60.0},
    "remove-old-job-files": {"task": "evaluation.tasks.remove_old_job_files", "schedule": 86_400.0},
}
CELERY_TASK_ALWAYS_EAGER = env.bool("CELERY_TASK_ALWAYS_EAGER", default=False)

# --- cache: what may be lost; shared by all processes where there is Redis --------------------------------------
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": f"{REDIS_KEY_PREFIX}cache",
        "OPTIONS": _redis_patience,
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# --- logins: failed ones delay further ones (evaluation.operations.logins) -------------------------------------------
# Failures of one account from one address, and of any from one address, after which further ones wait.
ASSAY_LOGIN_FAILURES = env.int("ASSAY_LOGIN_FAILURES", default=5)
ASSAY_LOGIN_FAILURES_PER_ADDRESS = env.int("ASSAY_LOGIN_FAILURES_PER_ADDRESS", default=50)
ASSAY_LOGIN_DELAY_SECONDS = env.int("ASSAY_LOGIN_DELAY_SECONDS", default=900)
# How many proxies pass a request on, each adding to X-Forwarded-For; what came before them is not believed.
ASSAY_TRUSTED_PROXIES = env.int("ASSAY_TRUSTED_PROXIES", default=0)
# All processes count together: in Redis, or in the database without it.
CACHES["logins"] = (
    {**CACHES["default"], "KEY_PREFIX": f"{REDIS_KEY_PREFIX}logins"}
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "login_failures",
        # Above it the oldest go, which whoever invents names must not bring about.
        "OPTIONS": {"MAX_ENTRIES": 1_000_000},
    }
)
AUTHENTICATION_BACKENDS = [
    "evaluation.operations.logins.LoginDelayBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_HANDLER = "evaluation.operations.logins.LoginDelayHandler"
AXES_CACHE = "logins"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "ip_address"]
AXES_CLIENT_IP_CALLABLE = "evaluation.operations.logins.address_key"
AXES_CLIENT_STR_CALLABLE = "evaluation.operations.logins.log_name"
AXES_LOCKOUT_CALLABLE = "evaluation.operations.logins.delayed_page"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# --- the API -----------------------------------------------------------------------------------------------------
# Requests of one user per minute.
ASSAY_API_READS_PER_MINUTE = env.int("ASSAY_API_READS_PER_MINUTE", default=600)
ASSAY_API_WRITES_PER_MINUTE = env.int("ASSAY_API_WRITES_PER_MINUTE", default=30)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["evaluation.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["evaluation.api.throttling.MinuteThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["evaluation.api.parsing.SmallJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "evaluation.api.schema.Schema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "evaluation.api.problems.problem_response",
    "URL_FORMAT_OVERRIDE": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
KNOX_TOKEN_MODEL = "evaluation.ApiToken"  # noqa: S105 - the name of a model
# Its own table would stand beside ours, unused, and keep users from being flushed.
MIGRATION_MODULES = {"knox": None, "axes": None}
REST_KNOX = {
    "TOKEN_MODEL": KNOX_TOKEN_MODEL,
    # What a leak is recognised by, in files and by scanners.
    "TOKEN_PREFIX": "assay_",
    "AUTH_HEADER_PREFIX": "Bearer",
    "AUTO_REFRESH": False,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "DESCRIPTION": "Human evaluation of language models: studies to make, launch and watch, judges and pipelines "
    "to run, reports to read and exports to take home.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "Apache-2.0"},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "DISABLE_DOCSTRING_DESCRIPTIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "StudyStatus": "evaluation.models.Status",
        "ItemRole": "evaluation.models.Role",
        "Outcome": "evaluation.models.Outcome",
        "RaterKind": "evaluation.models.Rater.Kind",
        "RaterSource": "evaluation.models.Rater.Source",
        "MemberRole": "evaluation.models.StudyMember.Role",
        "RunState": "judging.models.RunState",
        "RunPurpose": "judging.models.Purpose",
        "FilesState": "analytics.api.report_files.STATES",
        "EndpointTestKind": "judging.services.endpoints.connection_test.KIND_CHOICES",
    },
}

# --- what a study may ask of this installation ----------------------------------------------------------------
# Larger launches run in the worker instead of in the request.
ASSAY_LAUNCH_INLINE_ITEMS = env.int("ASSAY_LAUNCH_INLINE_ITEMS", default=500)
# Of reports over more judgments, figures that take long are computed once their section is opened.
ASSAY_REPORT_DEFER_JUDGMENTS = env.int("ASSAY_REPORT_DEFER_JUDGMENTS", default=200_000)
# Rows per transaction in bulk work, so that live submits never wait long behind it.
ASSAY_BATCH_SIZE = env.int("ASSAY_BATCH_SIZE", default=500)
# Seconds that rendering one response may take before it falls back to plain text.
ASSAY_RENDER_SECONDS = env.float("ASSAY_RENDER_SECONDS", default=2.0)
# How often one participant can ask a model for a revised draft over a whole study, whatever became of it.
ASSAY_ROUNDS_PER_PARTICIPANT = env.int("ASSAY_ROUNDS_PER_PARTICIPANT", default=100)
# Uploads and exports: a private folder that every web and worker process shares, never served as it is.
ASSAY_JOB_FILES = env.str("ASSAY_JOB_FILES", default=str(VAR_DIR / "jobs"))
ASSAY_UPLOAD_MB = env.int("ASSAY_UPLOAD_MB", default=500)
# The largest part of a file that a script sends in parts.
ASSAY_UPLOAD_PART_BYTES = 32 * 1024 * 1024
# After this many days uploads and exports are deleted.
ASSAY_JOB_FILE_DAYS = env.int("ASSAY_JOB_FILE_DAYS", default=14)
# Without a sign of life for so long, a job counts as lost and can be started again.
ASSAY_JOB_LOST_SECONDS = env.int("ASSAY_JOB_LOST_SECONDS", default=120)
# Origins that may show participant pages in a frame, besides Assay itself (a panel's own site).
ASSAY_FRAME_ANCESTORS = env.list("ASSAY_FRAME_ANCESTORS", default=["https://app.prolific.com"])
# Where participants and panels reach this installation: scheme and host, without a slash at the end.
ASSAY_PUBLIC_URL = env.str("ASSAY_PUBLIC_URL", default="http://127.0.0.1:8000").rstrip("/")
# Prolific: a researcher's token, where its API is, and the secret that its webhooks are signed with.
ASSAY_PROLIFIC_TOKEN = env.str("ASSAY_PROLIFIC_TOKEN", default="")
ASSAY_PROLIFIC_URL = env.str("ASSAY_PROLIFIC_URL", default="https://api.prolific.com/api/v1").rstrip("/")
ASSAY_PROLIFIC_WEBHOOK_SECRET = env.str("ASSAY_PROLIFIC_WEBHOOK_SECRET", default="")

# --- accounts ----------------------------------------------------------------------------------------------------
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"
# Where a login leads that names no page of this site.
LOGIN_REDIRECT_URL = "evaluation:study-list"

# --- mail: invitations of colleagues; without a server their links are passed on by hand ----------------------------
EMAIL_HOST = env.str("EMAIL_HOST", default="")
EMAIL_PORT = env.int("EMAIL_PORT", default=587)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=False)
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=not EMAIL_USE_SSL)
# A page waits while a mail is sent.
EMAIL_TIMEOUT = env.int("EMAIL_TIMEOUT", default=10)
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="")

# --- language and time ------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = True
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
TIME_ZONE = "UTC"
USE_TZ = True

# --- static files ------------------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Hashed names need a collectstatic run, which the embedded default does without; so it has no root either.
ASSAY_HASHED_STATIC = env.bool("ASSAY_HASHED_STATIC", default=False)
STATIC_ROOT = (
    env.str("STATIC_ROOT", default=str(BASE_DIR / "staticfiles") if ASSAY_HASHED_STATIC else "") or None
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if ASSAY_HASHED_STATIC
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not ASSAY_HASHED_STATIC
WHITENOISE_AUTOREFRESH = DEBUG
MEDIA_ROOT = VAR_DIR / "media"

# --- requests ----------------------------------------------------------------------------------------------------
# Sets of entries are many fields: some ten for each row, one more for every fragment that it cites, and all the rows of
# a model's revisions where no script leaves out what is not taken over.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "evaluation.operations.full_disk.UploadHandler",
]

# --- security ----------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    # Participants' pages have their own, which lets panels frame them (annotator.middleware).
    "EXCLUDE_URL_PREFIXES": ["/p/", "/s/"],
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        # Images in responses, where a study shows them: the sanitiser lets no others through, and none is loaded.
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# Behind a proxy that ends TLS; set by whoever runs Assay on the open network.
ASSAY_TLS = env.bool("ASSAY_TLS", default=False)
if ASSAY_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", default=False)
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
# Django would have everybody ask for preloading, which can hardly be taken back.
SILENCED_SYSTEM_CHECKS = ["security.W021"]

# --- logs: tokens, keys and passwords never reach one --------------------------------------------------------------
ASSAY_LOG_FORMAT = env.str("ASSAY_LOG_FORMAT", default="line")
# One line per request, written by our own middleware: a server's own access log is not needed.
ASSAY_ACCESS_LOG = env.bool("ASSAY_ACCESS_LOG", default=True)
LOGGING = logs.configuration(ASSAY_LOG_FORMAT, env.str("LOG_LEVEL", default="INFO").upper())
# Error pages with DEBUG, and mails about errors, pass the same mask as the logs.
DEFAULT_EXCEPTION_REPORTER = "config.errors.reporter.MaskedReporter"
