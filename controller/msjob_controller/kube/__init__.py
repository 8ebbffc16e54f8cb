"""The shell's door to Kubernetes: plain JSON over one keep-alive HTTP session, and what controllers build on it.

========== =====================================================================
module     what it holds
========== =====================================================================
errors     what can go wrong with a request, one small tree
connection where the API server is and how to authenticate (no I/O)
config     a kubeconfig or a ServiceAccount -> `Connection`; alone imports `kubernetes`
paths      URL paths of resources
transport  requests, retries, paging, watch streams
ratelimit  token bucket
backoff    how long to wait after the n-th failure
retry      which request is sent again, and when
responses  what a response failed with, and connections that last
lines      a watch stream, cut into its lines
store      objects by key and index, ordered by resource version (no I/O)
watch      one watch of a collection, its events checked
cache      `Informer`: list + watch -> `Store`
queue      `KeyedQueue`: work by key, never one key twice at once
leader     `LeaderElector` on a Lease
events     `EventRecorder`: Kubernetes events in the background
========== =====================================================================

Objects are plain dictionaries as the API server sends them. Measured while this was designed: typed client models cost
three to four times the CPU of a bare request.
"""
