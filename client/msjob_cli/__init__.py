"""`msjob` on the command line, also as a plugin of kubectl.

Importing this package loads click alone; what a command needs is loaded when the command is called.
"""

from msjob_cli.main import complete_for_kubectl, kubectl, main

__all__ = ["complete_for_kubectl", "kubectl", "main"]
