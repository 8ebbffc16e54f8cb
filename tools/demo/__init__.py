"""``make demo``: an MSJob's whole life on this machine, without a cluster, an image or a container.

The control plane is real (etcd, kube-apiserver, kube-controller-manager, kube-scheduler), so are ``dist/``, the
operator and ``msjob``. Nodes and pods are played by kwok: a pod is Running when its time has come, and ends when its
time is over, and nothing runs in it.

===============  ====================================================================================
``sample``       what is in the file that is shown, and what it expects to be there
``nodes``        the simulated nodes that these jobs fit on
``stages``       what becomes of a pod, for kwok
``scheduling``   the configuration of kube-scheduler
``cluster``      all programs of the demo, which end with it
``operator``     the operator, as ``dist/`` says it runs
``screen``       what is printed
``show``         the demo, step by step
===============  ====================================================================================

Run as ``PYTHONPATH=tests:tools .venv/bin/python -m demo``.
"""
