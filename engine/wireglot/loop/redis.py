"""Records of a store in a Redis server, which several machines share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from ..errors import UsageError, WireglotError, library
from . import memory
from .database import BUSY, DAYS
from .shelves import SHARED

SCHEMES = ("redis://", "rediss://")
PASSWORD = "REDIS_PASSWORD"  # the variable that holds it: no address does
NAME = "wireglot:"  # with which all that is kept begins


class Redis:
    """A shelf in a Redis server; what nobody asks for in time the server forgets."""

    def __init__(self, url: str, days: float = DAYS) -> None:
        """Connect. Raises UsageError where that fails, or the package `redis` is missing."""
        redis = library("redis", "`pip install 'wireglot[redis]'` has what talks to Redis")
        parts = urlsplit(url)
        if parts.password is not None:
            raise UsageError(f"the password of Redis stands in the variable {PASSWORD}")
        self._where, self._seconds = f"{parts.scheme}://{parts.netloc}", round(days * 86400)
        self._fails: type[Exception] = redis.RedisError
        password = os.environ.get(PASSWORD)
        try:
            self._db: Any = redis.Redis.from_url(
                url, password=password, decode_responses=True,
                socket_timeout=BUSY, socket_connect_timeout=BUSY,
            )  # fmt: skip
            self._db.ping()
        except (redis.RedisError, ValueError) as error:
            raise UsageError(f"`{self._where}` cannot hold states: {error}") from None

    def add(self, keys: Sequence[str], record: str) -> None:
        """Lay a record under keys, beside the newest that lie there. Raises WireglotError."""
        mark, now = memory.digest(record, 32), time.time()
        whole = self._db.pipeline(transaction=True)
        whole.set(f"{NAME}record:{mark}", record, ex=self._seconds)
        for key in keys:
            name = f"{NAME}key:{key}"
            whole.zadd(name, {mark: now})
            whole.zremrangebyrank(name, 0, -SHARED - 1)
            whole.expire(name, self._seconds)
        self._done(whole)

    def get(self, keys: Sequence[str]) -> Iterable[str]:
        """Return the records that lie under any of some keys. Raises WireglotError."""
        asked = self._db.pipeline(transaction=False)
        for key in keys:
            asked.zrange(f"{NAME}key:{key}", 0, -1, withscores=True)
        under = self._done(asked)
        ages = {mark: age for found in under for mark, age in found}
        if not ages:
            return []
        asked = self._db.pipeline(transaction=False)
        for mark in sorted(ages, key=lambda mark: (ages[mark], mark)):
            asked.getex(f"{NAME}record:{mark}", ex=self._seconds)
        for key, found in zip(keys, under, strict=True):
            if found:
                asked.expire(f"{NAME}key:{key}", self._seconds)
        # The server may have let a record go before its keys.
        return [one for one in self._done(asked)[: len(ages)] if one is not None]

    def _done(self, pipeline: Any) -> list[Any]:
        try:
            done: list[Any] = pipeline.execute()
        except self._fails as error:
            raise WireglotError(f"states cannot be kept in `{self._where}`: {error}") from error
        return done
