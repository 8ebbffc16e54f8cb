"""Leader election as it should be: one leads, hands over and is followed. In virtual time."""

import asyncio
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from msjob_controller.kube.errors import LeadershipLost
from msjob_controller.kube.leader import LeaderElector, micro_time
from msjob_controller.kube.transport import Transport
from support.apiserver import FakeApiServer
from support.leases import LeaseServer, Network, candidate, forever, now, stop
from support.virtual_time import run_virtual


def test_first_candidate_leads_at_once() -> None:
    """Without a Lease the first candidate makes one and leads; the Lease says who, since when and for how long."""

    async def main() -> None:
        server = LeaseServer()
        elector = candidate(Network(server), "a", now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
        await elector.acquire()

        assert elector.is_leader
        assert server.spec == {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-02T03:04:05.000000Z",
            "renewTime": "2026-01-02T03:04:05.000000Z",
            "leaseTransitions": 0,
        }

    run_virtual(main())


def test_leader_stays() -> None:
    """A leader renews with one request every two seconds and leads for as long as it likes; the other waits."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server)
        first, second = candidate(network, "a"), candidate(Network(server), "b")
        leading = asyncio.create_task(first.lead(forever))
        await asyncio.sleep(1)
        waiting = asyncio.create_task(second.lead(forever))
        await asyncio.sleep(900)

        assert first.is_leader
        assert not second.is_leader
        assert second.holder == "a"
        assert network.requests[2:] == ["replace"] * (len(network.requests) - 2)
        assert 445 <= len(network.requests) <= 453
        assert server.spec["leaseTransitions"] == 0

        await stop(waiting)
        await stop(leading)

    run_virtual(main())


def test_release_hands_over() -> None:
    """A leader that is stopped stops its work first, then gives the Lease back: the next one need not wait it out."""

    async def main() -> None:
        server = LeaseServer()
        first, second = candidate(Network(server), "a"), candidate(Network(server), "b")
        order: list[str] = []

        async def work() -> None:
            try:
                await forever()
            finally:
                await asyncio.sleep(1)
                order.append(f"work stopped, holder {server.spec['holderIdentity']}")

        leading = asyncio.create_task(first.lead(work))
        waiting = asyncio.create_task(second.lead(forever))
        await asyncio.sleep(60)
        await stop(leading)

        assert order == ["work stopped, holder a"]
        assert server.spec["holderIdentity"] == ""
        assert not first.is_leader

        await asyncio.sleep(5)

        assert second.is_leader
        assert server.spec["leaseTransitions"] == 1

        await stop(waiting)

    run_virtual(main())


@pytest.mark.parametrize("trouble", ["cut short", "answer lost"])
def test_release_after_a_renewal_in_doubt(trouble: str) -> None:
    """A leader that stops while a renewal has taken effect and its answer has not come gives the Lease back as well."""

    async def main() -> None:
        server = LeaseServer()
        network = Network(server, lambda: 0.3)
        leading = asyncio.create_task(candidate(network, "a").lead(forever))
        await asyncio.sleep(10)
        network.lose_answers = trouble == "answer lost"
        renewals = server.writes
        while server.writes == renewals:  # noqa: ASYNC110 - the server of the test has no events
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        network.lose_answers = False
        await stop(leading)

        assert server.spec["holderIdentity"] == ""

    run_virtual(main())


def test_race_for_a_new_lease() -> None:
    """Of many that find no Lease at the same moment, one makes it and leads, and the others know who."""

    async def main() -> None:
        server = LeaseServer()
        electors = [candidate(Network(server, lambda: 0.5), name) for name in "abcde"]
        tasks = [asyncio.create_task(elector.acquire()) for elector in electors]
        await asyncio.sleep(2.5)

        assert [elector.is_leader for elector in electors] == [True, False, False, False, False]
        assert {elector.holder for elector in electors} == {"a"}
        for task in tasks:
            await stop(task)

    run_virtual(main())


def test_holding_needs_leading() -> None:
    """Who does not lead cannot hold."""

    async def main() -> None:
        with pytest.raises(LeadershipLost, match="does not lead"):
            await candidate(Network(LeaseServer()), "a").hold()

    run_virtual(main())


def test_work_that_ends_or_fails() -> None:
    """When the work ends by itself the Lease is given back, and its error is not lost."""

    async def main() -> None:
        server = LeaseServer()

        async def fine() -> None:
            await asyncio.sleep(5)

        async def broken() -> None:
            await asyncio.sleep(5)
            raise RuntimeError("broken")

        await candidate(Network(server), "a").lead(fine)

        assert server.spec["holderIdentity"] == ""
        with pytest.raises(RuntimeError, match="broken"):
            await candidate(Network(server), "b").lead(broken)
        assert server.spec["holderIdentity"] == ""

    run_virtual(main())


def test_longer_duration_of_the_holder_counts() -> None:
    """During an upgrade that shortens the Lease, the old leader's longer one is waited out."""

    async def main() -> None:
        server = LeaseServer()
        first = candidate(Network(server), "a", duration=60.0, renew_deadline=40.0)
        await first.acquire()
        started = now()
        await candidate(Network(server), "b").acquire()

        assert now() - started >= 60

    run_virtual(main())


@pytest.mark.parametrize(("duration", "renew_deadline", "retry"), [(10, 10, 2), (15, 2, 2), (15, 10, 0)])
def test_impossible_times_are_refused(duration: float, renew_deadline: float, retry: float) -> None:
    """Times with which two could lead, or nobody could renew, are refused at the start."""
    with pytest.raises(ValueError, match="a Lease needs"):
        LeaderElector(Network(LeaseServer()).transport, duration=duration, renew_deadline=renew_deadline, retry=retry)


def test_identities_differ() -> None:
    """Two processes on one host never share an identity."""
    network = Network(LeaseServer())

    assert LeaderElector(network.transport).identity != LeaderElector(network.transport).identity


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05.000000Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=8))), "2026-01-01T19:04:05.000678Z"),
    ],
)
def test_micro_time(moment: datetime, expected: str) -> None:
    """The API accepts only UTC with exactly six digits."""
    assert micro_time(moment) == expected
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", expected)


async def test_over_http(server: FakeApiServer, transport: Transport) -> None:
    """The paths, bodies and preconditions are those of the API: acquire, renew and release over HTTP."""
    elector = LeaderElector(transport, identity="a", duration=2, renew_deadline=1, retry=0.05)

    async def work() -> None:
        await asyncio.sleep(0.2)

    await elector.lead(work)

    path = "/apis/coordination.k8s.io/v1/namespaces/ms-operator-system/leases/ms-operator-leader"
    lease = server.objects[path]
    assert lease["spec"]["holderIdentity"] == ""
    assert server.requests[1].body["kind"] == "Lease"
    assert server.count("PUT") >= 3
