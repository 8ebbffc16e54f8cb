"""A real control plane for tests: etcd, kube-apiserver and kube-controller-manager, with the test as the kubelet.

=====================  =====================================================================================
``controlplane``       ``ControlPlane``: start and stop it, its API server, its controllers; audit log; logs
``client``             ``Client``: plain JSON over HTTP as any user; waiting and watching
``kubelet``            ``Kubelet``: report what pods do, one by one or by itself
``podstatus``          states of containers: ``waiting``, ``running``, ``ended``
``logs``               ``LogServer``: the logs of pods, as a kubelet serves them
``nodes``              Nodes that are ready, broken or lost
``serviceaccount``     act as a ServiceAccount: token, client, kubeconfig
``kubectl``            the kubectl of the same version
``binaries``           where the programs come from: ``KUBEBUILDER_ASSETS``, PATH, or built once into a cache
``sources``            which programs there are, kube-scheduler and kwok of the demo too
``errors``             all errors
=====================  =====================================================================================

In ``tests/controlplane`` the fixtures ``control_plane``, ``namespace``, ``admin``, ``kubelet`` and ``kubectl`` give all
of that. Elsewhere::

    with ControlPlane() as control_plane:
        namespace = control_plane.create_namespace("demo")
        with Kubelet(control_plane.admin):
            ...

``python -m support.testbed build`` builds the programs and ends, ``python -m support.testbed up`` runs a control plane
until Ctrl-C, both with ``PYTHONPATH=tests``.
"""
