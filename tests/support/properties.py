"""Settings of property tests."""

from typing import Final

from hypothesis import HealthCheck, settings

few: Final = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
"""For properties of whole jobs, which take 10 to 50 ms to make and to render: no limit on an example, because a machine
that runs tests is busy, and few of them, because a test has 5 s. Used as a decorator above `given`."""
