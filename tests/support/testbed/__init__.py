"""A real control plane for tests: etcd, kube-apiserver and kube-controller-manager, with the test as the kubelet."""
