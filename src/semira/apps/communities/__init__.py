"""Communities of graphs: Louvain, Leiden, modularity, contraction."""

from semira.apps.communities.detection import contract, leiden, louvain, memory, modularity
from semira.apps.communities.result import Communities

__all__ = ["Communities", "contract", "leiden", "louvain", "memory", "modularity"]
