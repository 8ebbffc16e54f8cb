"""Finding the API server: every kind of kubeconfig, the ServiceAccount of a pod, and what is said when it fails."""

import base64
import json
import ssl
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import kubernetes.aio.config  # noqa: F401 - takes a second or more, which no test should be charged with
import pytest

from msjob_controller.kube import config, connection
from msjob_controller.kube.errors import ConfigError
from support.kubeconfigs import ONE_CA, kubeconfig, plugin


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the machine leads to a cluster or a proxy."""
    for name in ("KUBECONFIG", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


CREDENTIAL = """
import json, os, pathlib
count = pathlib.Path({count!r})
count.write_text(str(int(count.read_text() or 0) + 1) if count.exists() else "1")
status = {{"token": os.environ["GREETING"] + count.read_text(), **{extra!r}}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""


async def test_token(tmp_path: Path) -> None:
    """The everyday kubeconfig: server, token, namespace, and a real check of the server's certificate."""
    found = await config.load(kubeconfig(tmp_path / "k", namespace="team"))

    assert found.server == "https://k8s.example:6443"
    assert found.namespace == "team"
    assert found.credentials.authorization == "Bearer secret"
    assert found.tls is not None
    assert found.tls.verify_mode == ssl.CERT_REQUIRED
    assert found.tls.check_hostname
    assert found.proxy is None


async def test_namespace_defaults(tmp_path: Path) -> None:
    """A context without a namespace means `default`, as for kubectl."""
    assert (await config.load(kubeconfig(tmp_path / "k"))).namespace == "default"


async def test_user_and_password(tmp_path: Path) -> None:
    """Basic authentication, which proxies before an API server still use."""
    found = await config.load(kubeconfig(tmp_path / "k", user={"username": "me", "password": "pw"}))

    assert found.credentials.authorization == "Basic " + base64.b64encode(b"me:pw").decode()


@pytest.mark.parametrize("inline", [False, True])
async def test_certificate_authority(tmp_path: Path, inline: bool) -> None:  # noqa: FBT001
    """The CA of the cluster, as a file beside the kubeconfig or inline, is the only one trusted."""
    (tmp_path / "ca.crt").write_text(ONE_CA)
    data = {"certificate-authority-data": base64.b64encode(ONE_CA.encode()).decode()}
    found = await config.load(
        kubeconfig(tmp_path / "k", cluster=data if inline else {"certificate-authority": "ca.crt"})
    )

    assert found.tls is not None
    assert len(found.tls.get_ca_certs()) == 1
    assert not found.tls.verify_flags & ssl.VERIFY_X509_STRICT


async def test_insecure_and_renamed_server(tmp_path: Path) -> None:
    """`insecure-skip-tls-verify` and `tls-server-name` do what they say."""
    insecure = await config.load(kubeconfig(tmp_path / "k", cluster={"insecure-skip-tls-verify": True}))
    renamed = await config.load(kubeconfig(tmp_path / "k", cluster={"tls-server-name": "kubernetes"}))

    assert insecure.tls is not None
    assert insecure.tls.verify_mode == ssl.CERT_NONE
    assert not insecure.tls.check_hostname
    assert renamed.server_hostname == "kubernetes"


async def test_plain_http_needs_no_user(tmp_path: Path) -> None:
    """`kubectl proxy` is reached without TLS and without credentials."""
    path = tmp_path / "k"
    kubeconfig(path, cluster={"server": "http://127.0.0.1:8001"})
    content = json.loads(path.read_text())
    del content["contexts"][0]["context"]["user"]
    path.write_text(json.dumps(content))

    found = await config.load(str(path))

    assert (found.server, found.tls) == ("http://127.0.0.1:8001", None)
    assert found.credentials.authorization is None


async def test_token_file_is_read_again(tmp_path: Path) -> None:
    """A token in a file is replaced by others: it is read again each minute."""
    token = tmp_path / "token"
    token.write_text("one\n")
    credentials = (await config.load(kubeconfig(tmp_path / "k", user={"tokenFile": "token"}))).credentials
    token.write_text("two\n")

    assert credentials.authorization == "Bearer one"
    assert 50 < credentials.due - credentials.clock() <= 60
    assert await credentials.renew(credentials.version)
    assert credentials.authorization == "Bearer two"


async def test_exec_plugin(tmp_path: Path) -> None:
    """A plugin runs once, gets its environment, and runs again when the server refuses what it gave."""
    code = CREDENTIAL.format(count=str(tmp_path / "count"), extra={})
    credentials = (await config.load(kubeconfig(tmp_path / "k", user=plugin(tmp_path, code)))).credentials

    assert credentials.authorization == "Bearer hello1"
    assert credentials.due == float("inf")
    assert await credentials.renew(credentials.version)
    assert credentials.authorization == "Bearer hello2"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="kubernetes uses utcnow() here, deprecated since 3.12")
@pytest.mark.parametrize(("lives", "renewed_in"), [(3600, 3540), (60, 30), (-5, 1)])
async def test_exec_plugin_with_expiry(tmp_path: Path, lives: int, renewed_in: int) -> None:
    """A token with an expiry is renewed a minute before, a short-lived one at half its time, never without pause."""
    expiry = (datetime.now(UTC) + timedelta(seconds=lives)).strftime("%Y-%m-%dT%H:%M:%SZ")
    code = CREDENTIAL.format(count=str(tmp_path / "count"), extra={"expirationTimestamp": expiry})
    credentials = (await config.load(kubeconfig(tmp_path / "k", user=plugin(tmp_path, code)))).credentials

    assert credentials.due - credentials.clock() == pytest.approx(renewed_in, abs=4)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('log in first')", "returned 1.*log in first"),
        ("print('no json')", "failed to decode"),
        ("print('{}')", "malformed response"),
    ],
)
async def test_failing_exec_plugin(tmp_path: Path, code: str, message: str) -> None:
    """A plugin that fails is an error with what it said, not a client without credentials."""
    with pytest.raises(ConfigError, match=f"(?s)the exec plugin of user u gave no credentials: .*{message}"):
        await config.load(kubeconfig(tmp_path / "k", user=plugin(tmp_path, code)))


async def test_missing_exec_plugin(tmp_path: Path) -> None:
    """A plugin that is not installed is named."""
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin"}}

    with pytest.raises(ConfigError, match="no-such-plugin"):
        await config.load(kubeconfig(tmp_path / "k", user=user))


async def test_hanging_exec_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that hangs does not hold up anybody for ever, and no second one is started beside it."""
    monkeypatch.setattr(connection, "_RENEW_PAUSE", 0.0)
    count, slow = tmp_path / "count", tmp_path / "slow"
    code = CREDENTIAL.format(count=str(count), extra={})
    code += f"\nimport sys, time\nsys.stdout.flush()\nif pathlib.Path({str(slow)!r}).exists(): time.sleep(1.2)"
    credentials = (await config.load(kubeconfig(tmp_path / "k", user=plugin(tmp_path, code)))).credentials
    slow.touch()
    monkeypatch.setattr(config, "_PLUGIN_TIMEOUT", 0.3)

    assert [await credentials.renew(0) for _ in range(2)] == [False, False]
    assert credentials.authorization == "Bearer hello1"

    monkeypatch.setattr(config, "_PLUGIN_TIMEOUT", 3)

    assert await credentials.renew(0)
    assert credentials.authorization == "Bearer hello2"
    assert count.read_text() == "2"


async def test_no_cluster_at_all(tmp_path: Path) -> None:
    """When there is nothing to find, the error lists where it was sought."""
    with pytest.raises(ConfigError, match=r"no way to reach a cluster: .*--kubeconfig.*KUBECONFIG.*\.kube/config"):
        await config.load(service_account=tmp_path / "none")


async def test_missing_kubeconfig(tmp_path: Path) -> None:
    """A path that was given and does not exist is an error, whatever else would be there."""
    kubeconfig(tmp_path / "home" / ".kube" / "config")

    with pytest.raises(ConfigError, match=f"kubeconfig {tmp_path}/typo: no such file"):
        await config.load(f"{tmp_path}/typo")


def service_account(folder: Path) -> Path:
    """Make what the kubelet mounts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_text(ONE_CA)
    (folder / "namespace").write_text("ms-operator-system\n")
    return folder


async def test_in_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ServiceAccount of the pod: server from the environment, token read again each minute."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    folder = service_account(tmp_path / "sa")
    found = await config.load(service_account=folder)
    credentials = found.credentials

    assert found.server == "https://[fd00::1]:443"
    assert found.namespace == "ms-operator-system"
    assert found.tls is not None
    assert len(found.tls.get_ca_certs()) == 1
    assert credentials.authorization is not None
    assert credentials.authorization.lower() == "bearer pod-token"
    assert 50 < credentials.due - credentials.clock() <= 60

    (folder / "token").write_text("rotated")

    assert await credentials.renew(credentials.version)
    assert credentials.authorization.lower() == "bearer rotated"


async def test_pod_without_a_namespace_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The namespace is a convenience: without its file it is `default`."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    folder = service_account(tmp_path / "sa")
    (folder / "namespace").unlink()

    assert (await config.load(service_account=folder)).namespace == "default"


@pytest.mark.parametrize("broken", ["token", "ca.crt"])
async def test_broken_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """An empty file of the ServiceAccount is named."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    folder = service_account(tmp_path / "sa")
    (folder / broken).write_text("")

    with pytest.raises(ConfigError, match=f"ServiceAccount in {folder}"):
        await config.load(service_account=folder)


async def test_pod_without_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ServiceAccount without the address of the API server is an error, not a crash."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    with pytest.raises(ConfigError, match="host/port is not set"):
        await config.load(service_account=service_account(tmp_path / "sa"))


async def test_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path given comes before KUBECONFIG, that before the ServiceAccount, that before ~/.kube/config."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    folder = service_account(tmp_path / "sa")
    given = kubeconfig(tmp_path / "given", cluster={"server": "https://given"})
    kubeconfig(tmp_path / "home" / ".kube" / "config", cluster={"server": "https://home"})
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path / "env", cluster={"server": "https://env"}))

    assert (await config.load(given, service_account=folder)).server == "https://given"
    assert (await config.load(service_account=folder)).server == "https://env"

    monkeypatch.delenv("KUBECONFIG")

    assert (await config.load(service_account=folder)).server == "https://10.96.0.1:443"
    assert (await config.load(context="here", service_account=folder)).server == "https://home"
    assert (await config.load(service_account=tmp_path / "none")).server == "https://home"


@pytest.mark.parametrize(
    ("server", "no_proxy", "used"),
    [
        ("https://k8s.example:6443", "", True),
        ("https://k8s.example:6443", ".example", False),
        ("https://10.96.0.1:443", "10.96.0.1", False),
        ("https://10.96.0.1:443", "192.168.0.0/16, 10.96.0.0/12", False),
        ("https://10.96.0.1:443", "192.168.0.0/16", True),
        ("https://[fd00::1]:443", "fd00::/8", False),
        ("http://k8s.example", "", False),
    ],
)
async def test_proxy_of_the_environment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: str,
    no_proxy: str,
    used: bool,  # noqa: FBT001
) -> None:
    """HTTPS_PROXY is used as by kubectl, NO_PROXY with its networks included."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)

    found = await config.load(kubeconfig(tmp_path / "k", cluster={"server": server}))

    assert found.proxy == ("http://proxy:3128" if used else None)


async def test_proxy_of_the_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`proxy-url` of the cluster wins over the environment."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")

    found = await config.load(kubeconfig(tmp_path / "k", cluster={"proxy-url": "http://own:1"}))

    assert found.proxy == "http://own:1"
