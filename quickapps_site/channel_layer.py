"""Provides the channel layer that several processes share."""

from channels_redis.pubsub import RedisPubSubChannelLayer

from apps import redis_clients


class RedisChannelLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # has no types
    """A channel layer that uses Redis's channels. A single server, Sentinel and a cluster support
    them.
    """

    def __init__(self) -> None:
        super().__init__(hosts=[redis_clients.layer_host()])
