"""The construct of the MSJob CustomResourceDefinition."""

from msjob.cdk import Construct
from msjob.placing import place
from msjob.schema import crd_manifest


class MSJobCRD(Construct):
    """The CustomResourceDefinition that makes MSJob known to a cluster.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
    """

    def __init__(self, scope: Construct, id: str) -> None:  # noqa: A002 - as every construct
        super().__init__(scope, id)
        place(self, "crd", crd_manifest())
