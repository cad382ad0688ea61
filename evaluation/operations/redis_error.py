"""Redis's own errors, without its package in processes that have no Redis: `except redis_error() as error`."""


def redis_error() -> type[Exception]:
    # Asked for once something was raised.
    from redis.exceptions import RedisError

    return RedisError
