"""One MSJob as Kubernetes objects. Content is built in plain Python; `construct` places it in a cdk8s tree."""
