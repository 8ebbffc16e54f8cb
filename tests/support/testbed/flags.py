"""The files and command lines of the programs of the control plane."""

import base64
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from support.testbed.binaries import Binaries

SERVICE_RANGE = "10.96.0.0/16"
"""A /16, since each job with a Scheduler takes one address: a /24 is used up by 250 jobs."""

LOOPBACK = "127.0.0.1"

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the curve P-256 (SEC 2, section 2.4.2)."""

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}
"""Who did what to which resource, without the bodies."""


@dataclass(frozen=True)
class Files:
    """Where the files of a control plane are: all in one folder."""

    folder: Path

    @property
    def etcd_socket(self) -> Path:
        """The Unix socket of etcd: it needs no port, so none can be taken."""
        return self.folder / "etcd.sock"

    @property
    def signing_key(self) -> Path:
        """The private key that signs the tokens of ServiceAccounts."""
        return self.folder / "service-account.key"

    @property
    def certificate(self) -> Path:
        """The self-signed certificate that the API server makes for itself."""
        return self.folder / "certs" / "apiserver.crt"

    @property
    def tokens(self) -> Path:
        """The static tokens of the administrators."""
        return self.folder / "tokens.csv"

    @property
    def audit_policy(self) -> Path:
        """What the API server writes into its audit log."""
        return self.folder / "audit-policy.json"

    @property
    def audit_log(self) -> Path:
        """One JSON object a line for each request."""
        return self.folder / "logs" / "audit.log"

    def write(self, administrators: dict[str, str]) -> None:
        """Write keys, tokens and policies.

        Args:
            administrators: Tokens by user; each user may do everything.
        """
        self.signing_key.write_text(new_signing_key())
        self.tokens.write_text(
            "".join(f'{token},{user},{user},"system:masters"\n' for user, token in administrators.items())
        )
        self.audit_policy.write_text(json.dumps(AUDIT_POLICY))


def new_signing_key() -> str:
    """Make a private key on the curve P-256 in PEM form, as RFC 5915 has it without the optional public key."""
    secret = (secrets.randbelow(_P256_ORDER - 1) + 1).to_bytes(32, "big")
    der = bytes.fromhex("30310201010420") + secret + bytes.fromhex("a00a06082a8648ce3d030107")
    return f"-----BEGIN EC PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END EC PRIVATE KEY-----\n"


def etcd_command(binaries: Binaries, files: Files) -> list[str]:
    """Give the command line of etcd.

    ``--unsafe-no-fsync``: the data may be lost with the machine. The peer address names a socket in the folder; etcd
    wants it to look like host and port.
    """
    peer = "unix://peer:1"
    return [
        str(binaries.etcd),
        "--name=testbed",
        f"--data-dir={files.folder / 'etcd'}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls=unix://{files.etcd_socket}",
        "--advertise-client-urls=unix://client:1",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=testbed={peer}",
    ]


def apiserver_command(
    binaries: Binaries, files: Files, port: int, *, audit: bool, address: str = LOOPBACK
) -> list[str]:
    """Give the command line of kube-apiserver: RBAC, and ServiceAccounts as in any cluster."""
    command = [
        str(binaries.kube_apiserver),
        f"--etcd-servers=unix://{files.etcd_socket}",
        f"--cert-dir={files.certificate.parent}",
        f"--bind-address={address}",
        f"--advertise-address={address}",
        f"--external-hostname={address}",
        f"--secure-port={port}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={files.signing_key}",
        f"--service-account-signing-key-file={files.signing_key}",
        f"--token-auth-file={files.tokens}",
        "--allow-privileged=true",
        "--shutdown-watch-termination-grace-period=1s",  # else open watches hold up an orderly stop for a minute
    ]
    if address == LOOPBACK:
        command.append("--endpoint-reconciler-type=none")  # it is no address for the Endpoints of "kubernetes"
    if audit:
        command += [
            f"--audit-policy-file={files.audit_policy}",
            f"--audit-log-path={files.audit_log}",
            "--audit-log-maxsize=10000",  # MB; else what was logged before the first 100 MB were full is moved away
        ]
    return command


def controller_manager_command(binaries: Binaries, files: Files, kubeconfig: Path) -> list[str]:
    """Give the command line of kube-controller-manager with its default controllers.

    No kubelet reports here, so the grace period after which a silent node is lost is long: a test that wants a node
    lost says so itself. What it says is acted on within a second.
    """
    return [
        str(binaries.kube_controller_manager),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--service-account-private-key-file={files.signing_key}",
        f"--root-ca-file={files.certificate}",
        "--node-monitor-period=1s",
        "--node-monitor-grace-period=24h",
        "--node-eviction-rate=10",
        "--horizontal-pod-autoscaler-sync-period=1s",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]
