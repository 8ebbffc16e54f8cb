"""The construct worker: a process that renders jobs, one after the other, for `msjob_controller.renderer`.

It exists because jsii keeps every object for ever, is not thread-safe and never restarts a dead Node. The parent ends
it when it is idle, has done enough, or hangs. It ends by itself when its parent is gone (end of input) or its Node is.
"""

import os
import sys
from collections.abc import Mapping
from typing import BinaryIO, Final

from msjob.node import NodeNotFoundError
from msjob_controller import frames

EXIT_NODE_DIED: Final = 70
"""Exit status when jsii no longer answers: the job in hand is not to blame and is rendered again by a new worker."""

LONGEST_ERROR: Final = 10_000
"""Characters kept of an error: jsii adds the stack of its Node.js, a construct may add anything."""


def main() -> None:
    """Answer render requests on standard input until it ends.

    Frames in: `{"job": <MSJob>}`. Frames out: first `{"ready": true}` or `{"fatal": <why>, "construct": <whether the
    construct is to blame>}`, then for each job `{"rendered": …}` or `{"error": <why>}`. The only argument, if there is
    one, is a construct as `package.module:Class`.
    """
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # A site's construct may print or read: neither may reach the frames.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    try:
        construct = _load(sys.argv[1:])
    except (ImportError, NodeNotFoundError) as error:
        _send(answers, {"fatal": _text(error), "construct": False})
        return
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a site's module may raise anything
        _exit_if_node_died()
        _send(answers, {"fatal": _text(error), "construct": True})
        return
    _send(answers, {"ready": True})
    _serve(requests, answers, construct)


def _load(arguments: list[str]) -> type:
    """Start Node by importing what needs it, and find the construct."""
    from msjob.render import load_construct  # noqa: PLC0415 - a failure is an answer
    from msjob.workload.construct import MSJobWorkload  # noqa: PLC0415 - likewise

    return load_construct(arguments[0]) if arguments else MSJobWorkload


def _serve(requests: BinaryIO, answers: BinaryIO, construct: type) -> None:
    from msjob.api import InvalidJobError  # noqa: PLC0415 - after the check of main
    from msjob.render import RenderError, render  # noqa: PLC0415 - likewise

    while (request := frames.read(requests)) is not None:
        try:
            answer: dict[str, object] = {"rendered": render(request["job"], construct).to_wire()}
        except InvalidJobError as error:
            answer = {"error": _text(error)}
        except (RenderError, SystemExit) as error:
            _exit_if_node_died()
            answer = {"error": _text(error)}
        _send(answers, answer)


def _text(error: BaseException) -> str:
    """What an error says, as text that JSON and the API server take, and not more than anybody reads."""
    if isinstance(error, SystemExit):
        return f"the construct ended the process: SystemExit({error.code!r})"
    text = str(error) or type(error).__name__
    return text[:LONGEST_ERROR].encode(errors="replace").decode()


def _exit_if_node_died() -> None:
    """End this process if jsii no longer answers: then whatever went wrong is no fault of a construct."""
    try:
        from msjob.cdk import App, Chart  # noqa: PLC0415 - after the check of main

        Chart(App(), "alive").to_json()
    except Exception:  # noqa: BLE001 - jsii raises whatever its broken pipe gives
        # os._exit: the atexit handlers of jsii would wait for the Node that is gone.
        os._exit(EXIT_NODE_DIED)


def _send(answers: BinaryIO, message: Mapping[str, object]) -> None:
    try:
        answers.write(frames.encode(message))
        answers.flush()
    except BrokenPipeError:
        # The operator is gone, and nobody waits for more. os._exit: a normal exit would try to write once more.
        os._exit(0)


if __name__ == "__main__":
    main()
