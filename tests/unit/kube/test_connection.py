"""Credentials: when they are renewed, and what a failure does."""

import asyncio

from msjob_controller.kube.connection import Credentials, Grant
from msjob_controller.kube.errors import ConfigError
from support.virtual_time import ManualClock


def source(*grants: Grant | ConfigError) -> tuple[list[int], "Credentials", ManualClock]:
    """Return credentials that get these grants one after the other, and how often they asked."""
    clock = ManualClock()
    asked: list[int] = []
    remaining = list(grants)

    async def obtain() -> Grant:
        asked.append(1)
        await asyncio.sleep(0)
        grant = remaining.pop(0)
        if isinstance(grant, ConfigError):
            raise grant
        return grant

    return asked, Credentials(Grant("first", 60), obtain, clock=clock.time), clock


async def test_many_requests_renew_once() -> None:
    """A hundred requests refused at the same moment start one renewal, and all learn of it."""
    asked, credentials, _ = source(Grant("second", 60))

    answers = await asyncio.gather(*(credentials.renew(0) for _ in range(100)))

    assert answers == [True] * 100
    assert len(asked) == 1
    assert credentials.authorization == "second"


async def test_refused_token_does_not_start_a_plugin_all_the_time() -> None:
    """Within ten seconds of a renewal there is no other, whatever the server says."""
    asked, credentials, clock = source(Grant("second", 60), Grant("third", 60))
    await credentials.renew(credentials.version)

    assert not await credentials.renew(credentials.version)
    assert len(asked) == 1

    clock.advance(10)

    assert await credentials.renew(credentials.version)
    assert credentials.authorization == "third"


async def test_failed_renewal_keeps_what_there_is() -> None:
    """The old token may still be good; the renewal is tried again soon."""
    _, credentials, clock = source(ConfigError("plugin broken"), Grant("second", 60))
    clock.advance(60)

    assert not await credentials.renew(credentials.version)
    assert credentials.authorization == "first"
    assert clock.time() < credentials.due <= clock.time() + 10

    clock.advance(10)

    assert await credentials.renew(credentials.version)
    assert credentials.authorization == "second"


async def test_fixed_credentials_cannot_be_renewed() -> None:
    """Without a source there is nothing newer, and nothing ever comes due."""
    credentials = Credentials(Grant("fixed"))

    assert not await credentials.renew(0)
    assert credentials.due == float("inf")
