"""Names that the MSJob API shares with the cluster: group, kinds, labels, annotations, well-known names.

The values follow the Go operator this project is wire compatible with (kubeflow/common v0.4.1 labels), so that tools
written for it keep finding pods and services.
"""

from typing import Final

GROUP: Final = "mindspore.gitee.com"
VERSION: Final = "v1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
KIND: Final = "MSJob"
LIST_KIND: Final = "MSJobList"
PLURAL: Final = "msjobs"
SINGULAR: Final = "msjob"
SHORT_NAME: Final = "msj"
CRD_NAME: Final = f"{PLURAL}.{GROUP}"

CONTAINER: Final = "mindspore"
"""The container whose exit is the outcome of a pod, and the one that gets the MS_* environment."""

PORT_NAME: Final = "msjob-port"
DEFAULT_PORT: Final = 2222
"""Port of the MindSpore Scheduler unless its template names another under `PORT_NAME`."""

CONTROLLER_NAME: Final = "msjob-controller"
MANAGED_BY_SELF: Final = f"{GROUP}/ms-operator"
MANAGED_BY_MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"

LABEL_OPERATOR_NAME: Final = "training.kubeflow.org/operator-name"
LABEL_JOB_NAME: Final = "training.kubeflow.org/job-name"
LABEL_REPLICA_TYPE: Final = "training.kubeflow.org/replica-type"
LABEL_REPLICA_INDEX: Final = "training.kubeflow.org/replica-index"
LABEL_GROUP_NAME_OLD: Final = "group-name"
LABEL_JOB_NAME_OLD: Final = "job-name"
LABEL_CONTROLLER_NAME_OLD: Final = "controller-name"
LABEL_REPLICA_TYPE_OLD: Final = "replica-type"
LABEL_REPLICA_INDEX_OLD: Final = "replica-index"
LABEL_RESTART_ATTEMPT: Final = f"{GROUP}/restart-attempt"

MAX_NAME: Final = 63
"""Longest RFC 1123/1035 label; pod names double as host names and label values (Kubernetes API conventions)."""

MAX_REPLICAS: Final = 100_000
"""Upper bound of `replicas` in one role: keeps the length of a child's name bounded (6 characters with the dash)."""

MAX_JOB_BYTES: Final = 1 << 20
"""Largest MSJob as compact JSON. etcd refuses requests of 1.5 MiB, and each pod repeats the template of its role."""
