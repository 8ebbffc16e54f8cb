"""Kubeconfigs of every kind, with what they name."""

import base64
import json
import sys
from pathlib import Path
from typing import Any, Final

import certifi

_CAS = Path(certifi.where()).read_text().partition("-----END CERTIFICATE-----")
ONE_CA: Final = _CAS[0][_CAS[0].index("-----BEGIN") :] + _CAS[1] + "\n"
"""A certificate authority in PEM form."""


def _pem(kind: str, content: str) -> str:
    lines = [content[start : start + 64] for start in range(0, len(content), 64)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])


CERTIFICATE: Final = _pem(
    "CERTIFICATE",
    "MIIBdDCCARugAwIBAgIUJNluiSaM2vOoZ1HrQgXCXQLr7EQwCgYIKoZIzj0EAwIw"
    "DzENMAsGA1UEAwwEdGVzdDAgFw0yNjEyMDEwMzIzMjJaGA8yMTI2MTEwNzAzMjMy"
    "MlowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAiL"
    "mFciD8K6P+7usBKrkvExaijqDJyVyaHuGBtR5vwyza5vQhDg5LPhLjw1jMHg1Y7T"
    "J8HuI3CeseW0X+W/+rejUzBRMB0GA1UdDgQWBBRG2PwXR1v62eGKOqczZtv397G3"
    "tjAfBgNVHSMEGDAWgBRG2PwXR1v62eGKOqczZtv397G3tjAPBgNVHRMBAf8EBTAD"
    "AQH/MAoGCCqGSM49BAMCA0cAMEQCIHIx0QOHV3EJ3ZbPY8iJYAps4BCTPD0MBqNm"
    "CDPlyp5fAiAPhDaoo00tpLj134t2tDFDA9TENlo/jlQZ7Ffr2hPQHw==",
)
"""A client certificate, made for these tests and known to no server."""
KEY: Final = _pem(
    "EC PRIVATE KEY",
    "MHcCAQEEIEpEMd+8JWqsbuCaJNXCaj50OWHAl74LOKHO1UTIOj8uoAoGCCqGSM49"
    "AwEHoUQDQgAECIuYVyIPwro/7u6wEquS8TFqKOoMnJXJoe4YG1Hm/DLNrm9CEODk"
    "s+EuPDWMweDVjtMnwe4jcJ6x5bRf5b/6tw==",
)
"""Its key."""
OTHER_KEY: Final = _pem(
    "EC PRIVATE KEY",
    "MHcCAQEEIEwKs1RThABaBdVqehq+akNDnjBtE6iUUuCW8JruLkx2oAoGCCqGSM49"
    "AwEHoUQDQgAEjCzoUP2o31yCrBX8dh11bf6vf5yXA5WfRXXsIpwNKF+KyoaL/6Wv"
    "zgbHKjrFngIYeBz3J/xqUMvxTui18Uk0/g==",
)
"""Another key."""
ENCRYPTED_KEY: Final = _pem(
    "ENCRYPTED PRIVATE KEY",
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj6xs8crr2o1gICCAAw"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHtTGnKIwM2W0kpImMVv4sMEgZAg"
    "AOXYd7VFiKOnq/xxqi0lO5FLBiD/1X6kBkmx1NmPpqNAmTFQLkVCWFzvdu1rwWiA"
    "xAglsTyz4wdEBnXt0RYLuGI33ftAf2/FxYqQXZAgmDFzI6Ejnxizmd7ggTCRpxSm"
    "CBMQSJomWpJJPPAzXGB3isKIoyPbbmmimVaxXCUUA0pSxFOqQM0wOIZAjJONqls=",
)
"""Its key, encrypted with a passphrase."""


def kubeconfig(
    path: Path, *, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **context: str
) -> str:
    """Write a kubeconfig with one context and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "https://k8s.example:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": "secret"} if user is None else user}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", **context}}],
    }
    path.write_text(json.dumps(content))
    return str(path)


def edit(path: str, *replacements: tuple[str, str]) -> None:
    """Replace text in a kubeconfig."""
    text = Path(path).read_text()
    for old, new in replacements:
        text = text.replace(old, new)
    Path(path).write_text(text)


def plugin(folder: Path, code: str) -> dict[str, Any]:
    """Return a user whose credentials come from a program."""
    script = folder / "plugin.py"
    script.write_text(code)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
            "env": [{"name": "GREETING", "value": "hello"}],
        }
    }


def inline(text: str) -> str:
    """Content for a field of a kubeconfig that holds data."""
    return base64.b64encode(text.encode()).decode()
