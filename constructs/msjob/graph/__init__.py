"""Pictures of MSJobs, as text for Mermaid and Graphviz: their objects, who owns and calls whom, and what they need."""

from msjob.graph.dot import dot
from msjob.graph.drawing import draw
from msjob.graph.mermaid import mermaid
from msjob.graph.model import Edge, Frame, Graph, Node, Shape

__all__ = ["Edge", "Frame", "Graph", "Node", "Shape", "dot", "draw", "mermaid"]
