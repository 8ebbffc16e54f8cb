"""Leader election in trouble: leaders that die, freeze, are cut off or robbed; never two at once. In virtual time."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob_controller.kube.errors import LeadershipLost
from support.leases import LeaseServer, Network, candidate, forever, now, stop
from support.virtual_time import run_virtual

if TYPE_CHECKING:
    from msjob_controller.kube.leader import LeaderElector


def test_dead_leader_is_replaced() -> None:
    """When a leader just vanishes, another takes over after the Lease has run out, and not before."""

    async def main() -> None:
        server = LeaseServer()
        first, second = candidate(Network(server), "a"), candidate(Network(server), "b")
        await first.acquire()
        died = now()
        await second.acquire()

        assert 15 <= now() - died <= 15 + 2 * 4.4
        assert not first.is_leader

    run_virtual(main())


def test_frozen_leader_knows() -> None:
    """A leader that was frozen until another took over does not believe to lead, not even before it asks."""

    async def main() -> None:
        server = LeaseServer()
        first, second = candidate(Network(server), "a"), candidate(Network(server), "b")
        await first.acquire()
        await second.acquire()

        assert not first.is_leader
        with pytest.raises(LeadershipLost, match="b leads now"):
            await first.hold()

    run_virtual(main())


def test_frozen_leader_that_nobody_replaced_goes_on() -> None:
    """Frozen for long, but alone: the Lease is still ours, so leading goes on."""

    async def main() -> None:
        elector = candidate(Network(LeaseServer()), "a")
        await elector.acquire()
        await asyncio.sleep(100)

        before = elector.is_leader
        holding = asyncio.create_task(elector.hold())
        await asyncio.sleep(3)

        assert (before, elector.is_leader) == (False, True)

        await stop(holding)

    run_virtual(main())


def test_cut_off_leader_stops_before_another_starts() -> None:
    """A leader that cannot renew for ten seconds stops its work, five seconds before anybody may take over."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server)
        first, second = candidate(network, "a"), candidate(Network(server), "b")
        times: dict[str, float] = {}

        async def work() -> None:
            try:
                await forever()
            finally:
                times["stopped"] = now()

        async def successor() -> None:
            times["started"] = now()
            await forever()

        leading = asyncio.create_task(first.lead(work))
        await asyncio.sleep(60)
        waiting = asyncio.create_task(second.lead(successor))
        await asyncio.sleep(60)
        network.cut = True
        times["cut"] = now()

        with pytest.raises(LeadershipLost, match="could not be renewed for 10 s"):
            await leading
        await asyncio.sleep(60)
        await stop(waiting)

        assert 8 <= times["stopped"] - times["cut"] <= 12
        assert times["started"] - times["stopped"] >= 3

    run_virtual(main())


def test_short_trouble_is_survived() -> None:
    """A leader whose requests fail for a while, shorter than its deadline, goes on leading."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server)
        elector = candidate(network, "a")
        leading = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(10)
        network.lose_answers = True
        await asyncio.sleep(7)
        network.lose_answers = False
        await asyncio.sleep(10)

        assert not leading.done()
        assert elector.is_leader

        await stop(leading)

    run_virtual(main())


def test_work_that_does_not_stop_is_left_behind() -> None:
    """Lost leadership is reported in time even when the work ignores it, and the Lease is not given back then."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server)
        elector = candidate(network, "a")
        release = asyncio.Event()

        async def stubborn() -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        leading = asyncio.create_task(elector.lead(stubborn))
        await asyncio.sleep(10)
        network.cut = True
        started = now()
        with pytest.raises(LeadershipLost):
            await leading

        assert now() - started <= 12 + 5
        assert server.spec["holderIdentity"] == "a"
        release.set()

    run_virtual(main())


def test_release_does_not_wait_for_a_dead_server() -> None:
    """Stopping takes two seconds at most when the server is gone; the Lease then just runs out."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server)
        leading = asyncio.create_task(candidate(network, "a").lead(forever))
        await asyncio.sleep(10)
        network.cut = True
        started = now()
        await stop(leading)

        assert now() - started <= 2
        assert server.spec["holderIdentity"] == "a"

    run_virtual(main())


def test_stolen_lease_is_noticed_at_the_next_renewal() -> None:
    """When somebody edits the Lease by hand, the leader stops instead of fighting for it."""

    async def main() -> None:
        server = LeaseServer()
        elector = candidate(Network(server), "a")
        leading = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(10)
        lease = server.read()
        lease["spec"]["holderIdentity"] = "thief"
        server.store(lease)
        started = now()

        with pytest.raises(LeadershipLost, match="thief leads now"):
            await leading
        assert now() - started <= 2
        assert server.spec["holderIdentity"] == "thief"

    run_virtual(main())


@pytest.mark.parametrize("answers_lost", [False, True])
def test_lease_that_was_taken_and_given_back_is_lost(answers_lost: bool) -> None:  # noqa: FBT001
    """Somebody else led in between, so what this leader believes about the world may be wrong: it stops."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server)
        elector = candidate(network, "a")
        leading = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(10)
        network.lose_answers = answers_lost
        await asyncio.sleep(3)
        network.lose_answers = False
        lease = server.read()
        lease["spec"]["holderIdentity"] = ""
        server.store(lease)

        with pytest.raises(LeadershipLost, match="nobody leads now"):
            await leading

    run_virtual(main())


def test_validity_counts_from_the_request() -> None:
    """A renewal whose answer was slow is valid from when it was sent: others may have seen it that early."""

    async def main() -> None:
        delays = iter((0.0, 0.0, 4.0))  # to the read, which finds nothing; to the create; of its answer
        elector = candidate(Network(LeaseServer(), lambda: next(delays)), "a")
        started = now()
        await elector.acquire()

        assert now() - started == 4.0
        assert elector.is_leader

        await asyncio.sleep(11.1)

        assert not elector.is_leader

    run_virtual(main())


def test_deleted_lease_is_made_again() -> None:
    """A Lease deleted by hand is made anew by its leader."""

    async def main() -> None:
        server = LeaseServer()
        elector = candidate(Network(server), "a")
        leading = asyncio.create_task(elector.lead(forever))
        await asyncio.sleep(10)
        server.lease = None
        await asyncio.sleep(3)

        assert server.spec["holderIdentity"] == "a"
        assert elector.is_leader

        await stop(leading)

    run_virtual(main())


def test_other_clocks_do_not_matter() -> None:
    """Times written by a machine whose clock is an hour off neither keep a dead leader nor end a live one."""

    async def main() -> None:
        server = LeaseServer()
        for offset, first_name, second_name in ((-1, "a", "b"), (1, "c", "d")):
            wrong = datetime.now(UTC) + timedelta(hours=offset)
            first = candidate(Network(server), first_name, now=lambda wrong=wrong: wrong + timedelta(seconds=now()))
            leading = asyncio.create_task(first.lead(forever))
            await asyncio.sleep(30)
            second = candidate(Network(server), second_name)
            waiting = asyncio.create_task(second.acquire())
            await asyncio.sleep(100)

            assert first.is_leader
            assert not waiting.done()

            server_copy = server.read()
            await stop(leading)
            server.store({**server.read(), "spec": server_copy["spec"]})  # as if it had died without releasing
            await asyncio.sleep(25)

            assert waiting.done()
            await second.release()

    run_virtual(main())


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_never_two_leaders(seed: int) -> None:  # noqa: C901 - a small world of its own
    """Three candidates on a bad network, frozen and cut off at random: never do two of them believe to lead."""
    chance = random.Random(seed)  # noqa: S311 - no secret

    async def main() -> None:
        server = LeaseServer()
        led: set[str] = set()
        electors: dict[str, LeaderElector] = {}
        networks = {
            name: Network(server, lambda: chance.choice((0.0, 0.01, 0.3, 2.0)) * chance.random()) for name in "abc"
        }

        async def live(name: str) -> None:
            """Lead as often as possible; each time as a new process, now and then frozen while leading."""
            generation = 0
            while True:
                generation += 1
                elector = electors[name] = candidate(networks[name], f"{name}{generation}")
                await elector.acquire()
                while elector.is_leader:
                    led.add(name)
                    holding = asyncio.create_task(elector.hold())
                    await asyncio.wait((holding,), timeout=chance.uniform(1, 60))
                    if holding.done():
                        with pytest.raises(LeadershipLost):
                            holding.result()
                        break
                    await stop(holding)  # frozen: nothing of it runs
                    await asyncio.sleep(chance.uniform(0, 30))
                if chance.random() < 0.5:
                    await elector.release()

        async def disturb() -> None:
            while True:
                network = chance.choice(list(networks.values()))
                network.cut, network.lose_answers = chance.choice(((True, False), (False, True), (False, False)))
                await asyncio.sleep(chance.uniform(0, 25))

        tasks = [asyncio.create_task(live(name)) for name in "abc"] + [asyncio.create_task(disturb())]
        for _ in range(1500):
            await asyncio.sleep(0.2)
            leaders = [elector.identity for elector in electors.values() if elector.is_leader]
            assert len(leaders) <= 1, leaders
        for task in tasks:
            await stop(task)
        assert led, "nobody ever led"

    run_virtual(main())
