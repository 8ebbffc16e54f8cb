"""Types of Kubernetes that an MSJob carries: label selectors, and the metrics of a HorizontalPodAutoscaler.

They follow k8s.io/apimachinery/pkg/apis/meta/v1 and k8s.io/api/autoscaling/v2 of Kubernetes 1.36; a test compares them
with what an API server says of itself. Kubernetes checks the length of names by code and not by schema; here they are
bounded, because the cost of CEL rules is estimated from bounds.
"""

from typing import Annotated, Literal

from pydantic import Field

from msjob.api.types import ApiModel, Int32, Quantity

Name = Annotated[str, Field(max_length=253)]
LabelKey = Annotated[str, Field(max_length=317)]
LabelValue = Annotated[str, Field(max_length=63)]


class LabelSelectorRequirement(ApiModel):
    """One requirement of a label selector."""

    key: LabelKey = Field(description="Key of the label.")
    operator: Annotated[str, Field(max_length=16)] = Field(description="In, NotIn, Exists or DoesNotExist.")
    values: Annotated[list[LabelValue], Field(max_length=100)] | None = Field(
        None, description="Values that In and NotIn compare with."
    )


class LabelSelector(ApiModel):
    """A label selector: all of it has to match."""

    match_labels: dict[LabelKey, LabelValue] | None = Field(None, description="Labels with values.", max_length=100)
    match_expressions: Annotated[list[LabelSelectorRequirement], Field(max_length=100)] | None = Field(
        None, description="Requirements."
    )


class MetricIdentifier(ApiModel):
    """Which metric."""

    name: Name = Field(description="Name of the metric.")
    selector: LabelSelector | None = Field(None, description="Narrows the metric by its labels.")


class MetricTarget(ApiModel):
    """What a metric is to be brought to."""

    type: Literal["Utilization", "Value", "AverageValue"] = Field(
        description="Which of the other fields counts: Utilization, Value or AverageValue."
    )
    value: Quantity | None = Field(None, description="Value of the metric.")
    average_value: Quantity | None = Field(None, description="Value of the metric for each pod on average.")
    average_utilization: Int32 | None = Field(
        None, description="Percentage of what the pods request, on average; for resources only."
    )


class ResourceMetric(ApiModel):
    """A resource that all containers of the Workers use."""

    name: Name = Field(description="Name of the resource, such as cpu.")
    target: MetricTarget = Field(description="What it is to be brought to.")


class ContainerResourceMetric(ApiModel):
    """A resource that one container of the Workers uses."""

    name: Name = Field(description="Name of the resource, such as cpu.")
    container: LabelValue = Field(description="Name of the container.")
    target: MetricTarget = Field(description="What it is to be brought to.")


class PodsMetric(ApiModel):
    """A metric of each Worker, averaged."""

    metric: MetricIdentifier = Field(description="Which metric.")
    target: MetricTarget = Field(description="What it is to be brought to.")


class ExternalMetric(ApiModel):
    """A metric of something outside the cluster."""

    metric: MetricIdentifier = Field(description="Which metric.")
    target: MetricTarget = Field(description="What it is to be brought to.")


class CrossVersionObjectReference(ApiModel):
    """An object of the same namespace."""

    api_version: Name | None = Field(None, description="Version of its API.")
    kind: Name = Field(description="Kind of the object.")
    name: Name = Field(description="Name of the object.")


class ObjectMetric(ApiModel):
    """A metric of one object."""

    described_object: CrossVersionObjectReference = Field(description="Which object.")
    metric: MetricIdentifier = Field(description="Which metric.")
    target: MetricTarget = Field(description="What it is to be brought to.")


class MetricSpec(ApiModel):
    """One metric to scale by (autoscaling/v2)."""

    type: Literal["Resource", "ContainerResource", "Pods", "Object", "External"] = Field(
        description="Kind of the metric: the field of the same name describes it."
    )
    resource: ResourceMetric | None = Field(None, description="A resource of the Workers.")
    container_resource: ContainerResourceMetric | None = Field(None, description="A resource of one container.")
    pods: PodsMetric | None = Field(None, description="A metric of each Worker.")
    object: ObjectMetric | None = Field(None, description="A metric of an object in the namespace.")
    external: ExternalMetric | None = Field(None, description="A metric from outside the cluster.")
