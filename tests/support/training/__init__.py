"""Run the pods of a rendered MSJob as processes of this machine, with MindSpore, as a kubelet and kube-proxy would."""
