"""What conditions and events say. Each text stands here once, and `docs/reference/status.md` lists them all.

Names in braces are filled in by `str.format`. `{why}` is one of the reasons below the first part.
"""

from typing import Final

CREATED: Final = "MSJob {job} is created."
RUNNING: Final = "MSJob {job} is running."
RESTARTING: Final = "MSJob {job} is restarting: {why}."
REPLACING: Final = "A pod of MSJob {job} is restarting alone: {why}."
SUSPENDING: Final = "MSJob {job} is being suspended: its pods are told to go."
SUSPENDED: Final = "MSJob {job} is suspended."
RESUMED: Final = "MSJob {job} is resumed."
SUCCEEDED: Final = "MSJob {job} successfully completed: {why}."
FAILED: Final = "MSJob {job} has failed: {why}."
INVALID: Final = "The job is invalid: {problems}"
PODS_READY: Final = "All pods are ready."
PODS_NOT_READY: Final = "Not all pods are ready."
RESOLVED: Final = "What kept the job from going on is over."
EXITED: Final = "Pod {pod} exited with code {code}"

ALL_PODS: Final = "all {count} pods succeeded"
ITS_POD: Final = "its pod succeeded"
ALL_WORKERS: Final = "all {count} Workers succeeded"
ITS_WORKER: Final = "its Worker succeeded"
WORKER_0: Final = "Worker 0 succeeded"
SOME: Final = "{count} of {all} {what} succeeded"

POD_EXITED: Final = "pod {pod} failed: container {container} exited with code {code}"
POD_FAILED: Final = "pod {pod} failed"
POD_DELETED: Final = "pod {pod} was deleted"
POD_LOST: Final = "pod {pod} was lost with node {node}"
POD_NEVER_RAN: Final = "pod {pod} never ran"
LEARNED_LATE: Final = "learned after pod {pod} had failed"

DEADLINE: Final = "it was active longer than activeDeadlineSeconds {seconds}"
STARTUP_DEADLINE: Final = "not all its pods ran within startupDeadlineSeconds {seconds}"
STARTUP_HINDERED: Final = "{why}: {what}"
LIMIT: Final = "backoffLimit {limit} is used up"
KUBELET_LIMIT: Final = "its container was restarted more than {limit} times; backoffLimit {limit} is used up"
RULE: Final = "rule {number} of failurePolicy says {action}"
POLICY: Final = "restartPolicy {policy}"
DISRUPTION: Final = "a disruption does not count"
FOLLOWED: Final = "it followed pod {pod}, which counts already"
NONE_LEFT: Final = "no pod is left that the job could go on with"
SCALED: Final = "it is scaled from {before} to {after} Workers"
TALLY: Final = "restart {restarts}, {counted} counted"
TALLY_OF: Final = "restart {restarts}, {counted} of {limit} counted"
LATER: Final = ", in {seconds} s"

STALLED: Final = "pod {pod}: {what}"
STALLED_PODS: Final = "pod {pod}: {what} (and {more} more pods)"
IN_CONTAINER: Final = "container {container}: {what}"
NO_ADDRESS: Final = "Service {service} has no cluster IP, which the pods need as MS_SCHED_HOST"
HANGS: Final = "it is being deleted and does not go; see its node {node} and its finalizers"
HANGS_ON_LOST_NODE: Final = "it is being deleted on node {node}, which is lost; {hope}"
HOPE_BY_FORCE: Final = "it is removed by force {seconds} s after its deletion"
HOPE_BY_HAND: Final = (
    "set runPolicy.forceDeleteAfterSeconds, or delete it with --force once its process is known to be dead"
)
