"""Kubeconfigs that are merged, and what is said of those that cannot be used."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import kubernetes.aio.config  # noqa: F401 - takes a second or more, which no test should be charged with
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob_controller.kube import config
from msjob_controller.kube.errors import ConfigError
from msjob_controller.kube.kubeconfig import MAX_BYTES, select
from support.kubeconfigs import CERTIFICATE, ENCRYPTED_KEY, KEY, ONE_CA, OTHER_KEY, edit, inline, kubeconfig, plugin

PYTHON = ("Error:", "object has", "object is", "NoneType", "[Errno", "_ssl", " at 0x", "'dict'", "'str'", "'list'")
"""Marks of what only Python says of a fault."""


async def refused(path: str, context: str | None = None) -> str:
    """What is said of a kubeconfig that cannot be used: one line, from the outside of the program."""
    with pytest.raises(ConfigError) as caught:
        await config.load(path, context)
    said = str(caught.value)
    assert said.isprintable()
    assert said.startswith("kubeconfig ")
    assert [mark for mark in PYTHON if mark in said] == []
    return said


async def test_context_is_chosen(tmp_path: Path) -> None:
    """Another context than the current one, from files that are merged as in KUBECONFIG."""
    first = kubeconfig(tmp_path / "a" / "k")
    second = kubeconfig(tmp_path / "b" / "k")
    edit(second, ('"here"', '"there"'), ('"c"', '"c2"'), ("k8s.", "other."))

    merged = f"{first}:{tmp_path}/missing:{second}"

    assert (await config.load(merged, "there")).server == "https://other.example:6443"
    assert "there is no context nowhere; it has here, there" in await refused(merged, "nowhere")


async def test_current_context_of_the_first_file(tmp_path: Path) -> None:
    """Of files that are merged the first that names a current context decides, and the first entry of a name counts."""
    first, second = kubeconfig(tmp_path / "a"), kubeconfig(tmp_path / "b")
    edit(second, ('"current-context": "here"', '"current-context": "there"'), ("k8s.", "other."))

    assert (await config.load(f"{first}:{second}")).server == "https://k8s.example:6443"
    edit(first, ('"current-context": "here"', '"current-context": ""'))
    edit(second, ('"current-context": "there"', '"current-context": "here"'))
    assert (await config.load(f"{first}:{second}")).server == "https://k8s.example:6443"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "[]",
        "text",
        "a: [",
        "\x00",
        "{}",
        "current-context: x",
        "current-context: x\ncontexts: {}",
        "current-context: x\ncontexts: [{name: x}]",
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {}}]",
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 5}}]",
        "current-context: x\ncontexts: [{name: x, context: 7}]\nclusters: []",
        (
            "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u}]\n"
            "clusters: [{name: c, cluster: {server: 'https://x'}}]"
        ),
    ],
)
async def test_broken_kubeconfig(tmp_path: Path, content: str) -> None:
    """Whatever is in the file, the error is one sentence that names it."""
    path = tmp_path / "broken"
    path.write_text(content)

    assert str(path) in await refused(str(path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ": no object in it"),
        ("[]", ":1:1: a list is no object: expected a kubeconfig"),
        ("a: [", ":2:1: is not YAML"),
        ("a: 1\n---\nb: 1\n", ":3:1: a second document"),
        ("a: 1\na: 2\n", ":2:1: the key a is there twice"),
        ("{}", ":1:1: current-context: names no context: set one with kubectl config use-context"),
        ("current-context: 5", ":1:1: current-context: must be text"),
        ("contexts: {}\ncurrent-context: x", "there is no context x; it has none"),
        ("contexts: 5", ":1:1: contexts: must be a list"),
        ("users:\n- user: {}", ":2:3: users[0]: must be a mapping with a name"),
        ("users: [{name: a}, {name: a}]", ":1:21: users[1].name: a is there twice"),
        ("users:\n- {name: a, user: 5}", ":2:13: users[0].user: must be a mapping"),
        (
            "current-context: x\ncontexts: [{name: x, context: {cluster: [c]}}]",
            "contexts[0].context.cluster: must be text",
        ),
        ("current-context: x\ncontexts: [{name: x}]", ":2:12: contexts[0].context.cluster: is missing"),
        (
            "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]",
            ":2:32: contexts[0].context.cluster: there is no cluster c",
        ),
    ],
)
async def test_place_of_the_fault(tmp_path: Path, content: str, words: str) -> None:
    """The fault is told with line, column and field, and with what to do about it."""
    path = tmp_path / "k"
    path.write_text(content)

    assert words in await refused(str(path))


@pytest.mark.parametrize("nested", ["[" * 3000, "[" * 3000 + "]" * 3000, "{a: " * 3000, "a: " + "[" * 200_000])
async def test_nested_too_deeply(tmp_path: Path, nested: str) -> None:
    """Nesting that would exhaust the stack of a parser is refused as such."""
    path = tmp_path / "deep"
    path.write_text(nested)

    said = await refused(str(path))
    assert "nest" in said
    assert len(said) < 300


async def test_too_large(tmp_path: Path) -> None:
    """A file that no kubeconfig could be is not parsed at all; one that is just not too large is."""
    path = tmp_path / "large"
    path.write_text("#" * MAX_BYTES)
    assert "no object in it" in await refused(str(path))

    path.write_text("#" * (MAX_BYTES + 1))
    assert "is larger than 1 MiB" in await refused(str(path))


async def test_binary_kubeconfig(tmp_path: Path) -> None:
    """A file that is no text."""
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)))

    assert str(path) in await refused(str(path))


async def test_no_file(tmp_path: Path) -> None:
    """A folder, a pipe, and a file that may not be read are refused as what they are."""
    assert f"{tmp_path}: is a folder" in await refused(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    assert "is no regular file" in await refused(str(tmp_path / "pipe"))


@pytest.mark.parametrize(
    ("user", "cluster", "message"),
    [
        (None, {"server": "ftp://x"}, "no http(s) URL: 'ftp://x'"),
        (None, {"server": "k8s.example:6443"}, "no http(s) URL"),
        (None, {"server": "https://[::1"}, "no http(s) URL"),
        (None, {"server": "https://x:99999"}, "no http(s) URL"),
        (None, {"server": 5}, "cluster.server: must be text"),
        (None, {"server": None}, "cluster.server: is missing"),
        (None, {"insecure-skip-tls-verify": "yes"}, "cluster.insecure-skip-tls-verify: must be true or false"),
        (
            None,
            {"certificate-authority": "no.crt"},
            "cluster.certificate-authority: {here}/no.crt cannot be read: No such",
        ),
        (None, {"certificate-authority": "."}, "cluster.certificate-authority: {here} cannot be read: Is a directory"),
        (None, {"certificate-authority-data": "!"}, "cluster.certificate-authority-data: is not base64"),
        (None, {"certificate-authority-data": "ü"}, "cluster.certificate-authority-data: is not base64"),
        (None, {"certificate-authority-data": ONE_CA}, "is not base64; a file in PEM form goes into the field without"),
        (None, {"certificate-authority-data": 5}, "cluster.certificate-authority-data: must be text"),
        (
            None,
            {"certificate-authority-data": "bm8gUEVN"},
            "certificate-authority-data: holds no certificate in PEM form",
        ),
        (
            None,
            {"proxy-url": "socks5://me:pw@x:1"},
            "proxy-url of the cluster: the proxy is of kind socks5",
        ),
        (None, {"proxy-url": "x"}, "proxy-url of the cluster: the proxy is no URL"),
        (
            {"client-certificate": "no.crt", "client-key": "no.key"},
            None,
            "user.client-certificate: {here}/no.crt cannot",
        ),
        (
            {"client-certificate-data": inline(CERTIFICATE)},
            None,
            "user.client-key: is missing, and client-certificate is",
        ),
        ({"client-key-data": inline(KEY)}, None, "user.client-certificate: is missing, and client-key is of no use"),
        ({"client-certificate-data": "bm8gUEVN", "client-key-data": "?"}, None, "user.client-key-data: is not base64"),
        (
            {"client-certificate-data": "bm8gUEVN", "client-key-data": inline(KEY)},
            None,
            "user.client-certificate-data: holds no certificate in PEM form",
        ),
        (
            {"client-certificate-data": inline(CERTIFICATE), "client-key-data": "bm8gUEVN"},
            None,
            "user.client-key-data: holds no private key in PEM form",
        ),
        (
            {"client-certificate-data": inline(CERTIFICATE), "client-key-data": inline(OTHER_KEY)},
            None,
            "user.client-key-data: is not the key of the client certificate",
        ),
        (
            {"client-certificate-data": inline(CERTIFICATE), "client-key-data": inline(ENCRYPTED_KEY)},
            None,
            "user.client-key-data: is encrypted, and the operator cannot ask for its passphrase",
        ),
        ({"tokenFile": "missing"}, None, "user.tokenFile: {here}/missing cannot be read: No such file"),
        ({"token": 5}, None, "user.token: must be text"),
        ({"token": "two\nlines"}, None, "the token holds what no HTTP header may"),
        ({"token": "t", "as": "admin"}, None, "impersonation (as) is not supported"),
        ({}, None, "names no known user"),
        ({"exec": 5}, None, "user.exec: must be a mapping"),
        ({"exec": {"command": "x"}}, None, "user.exec.apiVersion: is missing"),
        ({"exec": {"apiVersion": "v1", "command": 5}}, None, "user.exec.command: is missing, or no text"),
        ({"exec": {"apiVersion": "v1", "command": "x", "args": [5]}}, None, "user.exec.args: must be a list of texts"),
        ({"exec": {"apiVersion": "v1", "command": "x", "env": [{"name": "A"}]}}, None, "user.exec.env: must be a list"),
        ({"auth-provider": {}}, None, "user.auth-provider.name: is missing"),
        ({"auth-provider": {"name": "oidc"}}, None, "the user cannot log in: "),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": "a.b"}}}, None, "should contain 3 period-delimited"),
        (
            {"auth-provider": {"name": "oidc", "config": {"id-token": 5}}},
            None,
            "something in its entry has an unknown form",
        ),
    ],
)
async def test_unusable_entries(
    tmp_path: Path, user: dict[str, Any] | None, cluster: dict[str, Any] | None, message: str
) -> None:
    """Each entry that cannot work is named; nothing is silently ignored that would change who we are."""
    said = await refused(kubeconfig(tmp_path / "k", user=user, cluster=cluster))

    assert message.replace("{here}", str(tmp_path)) in said


@pytest.mark.parametrize("field", ["client-key-data", "client-certificate-data", "token"])
async def test_what_is_secret_is_not_told(tmp_path: Path, field: str) -> None:
    """No message about a field of a user repeats what is in it."""
    user = {"client-certificate-data": inline(CERTIFICATE), "client-key-data": inline(KEY), field: "päss-7731!\n"}

    assert "7731" not in await refused(kubeconfig(tmp_path / "k", user=user))


async def test_password_of_a_proxy_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The URL of a proxy may hold a password, so a proxy that cannot be used is told by its kind and place."""
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "socks5://me:7731@proxy:1")

    said = await refused(kubeconfig(tmp_path / "k"))
    assert "HTTPS_PROXY: the proxy is of kind socks5" in said
    assert "7731" not in said


async def test_client_certificate(tmp_path: Path) -> None:
    """A certificate and its key, as files or inline, are taken; a line break in the data does no harm."""
    (tmp_path / "c.crt").write_text(CERTIFICATE)
    (tmp_path / "c.key").write_text(KEY)
    wrapped = base64.encodebytes(KEY.encode()).decode()
    assert "\n" in wrapped.strip()
    for user in (
        {"client-certificate": "c.crt", "client-key": "c.key"},
        {"client-certificate-data": inline(CERTIFICATE), "client-key-data": wrapped},
        {"client-certificate": "gone.crt", "client-certificate-data": inline(CERTIFICATE), "client-key": "c.key"},
    ):
        assert (await config.load(kubeconfig(tmp_path / "k", user=user))).credentials.authorization is None


async def test_certificate_of_a_plugin(tmp_path: Path) -> None:
    """A certificate that an exec plugin gave and that is none is told as the plugin's."""
    status = {"clientCertificateData": "no PEM", "clientKeyData": KEY}
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    user = plugin(tmp_path, f"print({json.dumps(credential)!r})")

    said = await refused(kubeconfig(tmp_path / "k", user=user))
    assert "what the exec plugin gave as client-certificate holds no certificate in PEM form" in said


async def test_user_that_does_not_exist(tmp_path: Path) -> None:
    """A context whose user is missing would be anonymous: that is said instead."""
    path = kubeconfig(tmp_path / "k")
    edit(path, ('"user": "u"', '"user": "nobody"'))

    assert "contexts[0].context.user: names no known user (user: nobody)" in await refused(path)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
_fields = st.sampled_from(
    [
        "server",
        "certificate-authority-data",
        "insecure-skip-tls-verify",
        "tls-server-name",
        "proxy-url",
        "token",
        "exec",
        "client-key-data",
        "auth-provider",
        "tokenFile",
        "username",
        "name",
        "user",
        "cluster",
        "users",
        "contexts",
    ]
)


@settings(deadline=None)
@given(field=_fields, value=_json)
def test_any_value_anywhere(tmp_path_factory: pytest.TempPathFactory, field: str, value: object) -> None:
    """Whatever stands in a field, the file is judged: it is taken, or refused with one line."""
    path = tmp_path_factory.mktemp("any") / "k"
    content = json.loads(Path(kubeconfig(path)).read_text())
    for entry in (content, *content["clusters"], *content["users"], *content["contexts"]):
        for holder in (entry, *(inner for inner in entry.values() if isinstance(inner, dict))):
            if field in holder or holder.keys() & {"server", "token"}:
                holder[field] = value
    path.write_text(json.dumps(content))

    said = f"kubeconfig {path}"
    try:
        select(str(path), None)
    except ConfigError as error:
        said = str(error)
    assert said.startswith(f"kubeconfig {path}")
    assert "\n" not in said
