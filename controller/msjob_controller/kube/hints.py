"""What a person can do about a request that failed, for the log: at the first start, most faults are of a few kinds."""

from typing import Final

import aiohttp

from msjob.api import meta
from msjob_controller.kube.errors import ApiError, Forbidden, NotFound, Unauthorized, Unreachable

_HTTP_TO_HTTPS: Final = "HTTP request to an HTTPS server"
"""What servers written in Go answer, with status 400, to who does not speak TLS."""


def hint(error: Exception) -> dict[str, str]:
    """Give the hint to an error as a field of its log line.

    Args:
        error: why a request failed.

    Returns:
        `{"hint": …}`; empty where the error says all there is to say.
    """
    text = _text(error)
    return {"hint": text} if text else {}


def _text(error: Exception) -> str | None:
    match error:
        case Unauthorized():
            return (
                "the credentials are expired or of another cluster: log in again, or name the right kubeconfig with "
                "--kubeconfig"
            )
        case Forbidden():
            return (
                "this account lacks the right: apply dist/0002-rbac.yaml, or outside the cluster use an account that "
                "has these rights"
            )
        case NotFound() if f"/apis/{meta.GROUP}/" in error.request:
            return "the MSJob CRD is not installed: run make install, or kubectl apply -f dist/0000-crd.yaml"
        case Unreachable():
            return _connecting(error.__cause__)
        case ApiError(status=400, message=message) if _HTTP_TO_HTTPS in message:
            return "the server speaks TLS: its address in the kubeconfig must begin with https://"
    return None


def _connecting(cause: BaseException | None) -> str | None:
    match cause:
        case aiohttp.ClientConnectorCertificateError():
            return (
                "the server's certificate is not of the certificate-authority in the kubeconfig, or not made for this "
                "address (tls-server-name): is the kubeconfig of another or an older cluster?"
            )
        case aiohttp.ClientConnectorSSLError():
            return (
                "the server does not speak TLS: should its address in the kubeconfig begin with http://, or is the "
                "port that of another service?"
            )
        case aiohttp.ClientConnectorError():
            return "is the cluster running, and its address in the kubeconfig right?"
    return None
