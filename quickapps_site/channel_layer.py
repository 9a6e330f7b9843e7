"""Configures the channel layer that all processes share in Redis."""

from channels_redis.pubsub import RedisPubSubChannelLayer

from apps import redis_clients


class RedisChannelLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # has no types
    """A channel layer over Redis Pub/Sub, for a single server, Sentinel or a cluster."""

    def __init__(self) -> None:
        super().__init__(hosts=[redis_clients.layer_host()])
