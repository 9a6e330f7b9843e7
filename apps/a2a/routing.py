"""Routes the URLs of agents to consumers."""

from django.urls import URLPattern, re_path

from apps.a2a.consumers import CardConsumer, JsonRpcConsumer, OperationConsumer

AGENT = r"^a2a/(?P<slug>[^/]+)"
TASK = rf"{AGENT}/tasks/(?P<id>[^/:]+)"
CONFIGS = rf"{AGENT}/tasks/(?P<task_id>[^/:]+)/pushNotificationConfigs"


class SendConsumer(OperationConsumer):
    """Serves `POST /a2a/{slug}/message:send`: sends a message and returns its task."""

    operations = {"POST": "SendMessage"}


class StreamConsumer(OperationConsumer):
    """Serves `POST /a2a/{slug}/message:stream`: sends a message and streams its task."""

    operations = {"POST": "SendStreamingMessage"}


class TasksConsumer(OperationConsumer):
    """Serves `GET /a2a/{slug}/tasks`: lists the caller's tasks."""

    operations = {"GET": "ListTasks"}


class GetTaskConsumer(OperationConsumer):
    """Serves `GET /a2a/{slug}/tasks/{id}`: returns a task."""

    operations = {"GET": "GetTask"}


class CancellationConsumer(OperationConsumer):
    """Serves `POST /a2a/{slug}/tasks/{id}:cancel`: cancels a task and returns it."""

    operations = {"POST": "CancelTask"}


class SubscriptionConsumer(OperationConsumer):
    """Serves `GET /a2a/{slug}/tasks/{id}:subscribe`: streams a task. Version 1.0.0 also allows
    POST.
    """

    operations = {"GET": "SubscribeToTask", "POST": "SubscribeToTask"}


class ConfigsConsumer(OperationConsumer):
    """Serves `GET` and `POST /a2a/{slug}/tasks/{id}/pushNotificationConfigs`."""

    operations = {
        "GET": "ListTaskPushNotificationConfigs",
        "POST": "CreateTaskPushNotificationConfig",
    }


class ConfigConsumer(OperationConsumer):
    """Serves `GET` and `DELETE /a2a/{slug}/tasks/{id}/pushNotificationConfigs/{config}`."""

    operations = {
        "GET": "GetTaskPushNotificationConfig",
        "DELETE": "DeleteTaskPushNotificationConfig",
    }


class ExtendedCardConsumer(OperationConsumer):
    """Serves `GET /a2a/{slug}/extendedAgentCard`: returns the card for callers with a key."""

    operations = {"GET": "GetExtendedAgentCard"}


urlpatterns: list[URLPattern] = [
    re_path(rf"{AGENT}/?$", JsonRpcConsumer.as_asgi()),
    re_path(rf"{AGENT}/\.well-known/agent-card\.json$", CardConsumer.as_asgi()),
    re_path(rf"{AGENT}/extendedAgentCard$", ExtendedCardConsumer.as_asgi()),
    re_path(rf"{AGENT}/message:send$", SendConsumer.as_asgi()),
    re_path(rf"{AGENT}/message:stream$", StreamConsumer.as_asgi()),
    re_path(rf"{AGENT}/tasks$", TasksConsumer.as_asgi()),
    re_path(rf"{TASK}$", GetTaskConsumer.as_asgi()),
    re_path(rf"{TASK}:cancel$", CancellationConsumer.as_asgi()),
    re_path(rf"{TASK}:subscribe$", SubscriptionConsumer.as_asgi()),
    re_path(rf"{CONFIGS}$", ConfigsConsumer.as_asgi()),
    re_path(rf"{CONFIGS}/(?P<id>[^/]+)$", ConfigConsumer.as_asgi()),
]
