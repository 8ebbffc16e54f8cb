"""A real cluster of one node: kubelet, containerd, kube-proxy and CoreDNS on a control plane of the test bed.

It needs root and Linux, and runs in namespaces of its own (network, mounts, processes), which ``tools/cluster.sh``
makes. All of it ends with them, so that nothing stays on the machine.
"""
