"""What is read of the program that enforces NetworkPolicies."""

from pathlib import Path

from support.cluster.policies import Verdicts

LOG = """\
I1201 13:20:01.0 9 controller.go:429] "Processing sync for packet" id=1
I1201 13:20:01.0 9 controller.go:562] "Evaluating packet" srcPod="a/w-0" dstPod="a/s-0" packet={"ID":1,"Proto":"TCP"}
I1201 13:20:01.0 9 controller.go:601] "Egress NetworkPolicies" id=1 npolicies=1 allowed=false
I1201 13:20:01.0 9 controller.go:449] "Finished syncing packet" id=1 duration="90µs" verdict="drop"
I1201 13:20:02.0 9 controller.go:562] "Evaluating packet" srcPod="a/w-1" dstPod="none" packet={"ID":2,"Proto":"UDP"}
I1201 13:20:02.0 9 controller.go:449] "Finished syncing packet" id=2 duration="70µs" verdict="accept"
"""


def test_dropped(tmp_path: Path) -> None:
    """A pair of pods is told if a packet between them was dropped; one that passed is not."""
    log = tmp_path / "log"
    log.write_text(LOG)

    assert Verdicts(log).dropped() == {("a/w-0", "a/s-0")}
