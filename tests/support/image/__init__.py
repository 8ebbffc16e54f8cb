"""The operator's image, built and run for real, where no registry, daemon or cluster is at hand.

=============  ========================================================================================
``base``       a base image of Debian's packages, made once into the cache
``storage``    buildah with a storage of its own; the built image and its file system
``oci``        what a container is to be, as the OCI runtime takes it
``container``  run one with runc
``network``    a network namespace, and the API server in it
``podspec``    from the Pod that the Deployment gave to its container, as a kubelet does it
=============  ========================================================================================

All of it is for ``make test-image``: ``tools/test-image.sh`` makes namespaces of mounts and processes around the tests,
so that no mount and no process outlives them, and a folder for all files, which it removes.
"""
