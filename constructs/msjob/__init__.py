"""MSJob: what a MindSpore job is, and the Kubernetes objects it is made of."""
