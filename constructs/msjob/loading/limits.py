"""How much a file may hold. The limits stop hostile input early; no manifest that a cluster takes comes near them."""

from typing import Final

MAX_BYTES: Final = 8 << 20
"""Largest file. An API server takes 3 MiB a request, etcd 1.5 MiB an object; a file may hold several."""

MAX_NODES: Final = 200_000
"""Most values in one file, each alias counted as what it stands for. A job with 300 variables has about 1,000."""

MAX_CHARACTERS: Final = 8 << 20
"""Most characters of text in one file, counted likewise."""

MAX_DEPTH: Final = 100
"""Deepest nesting. A pod template reaches about 20."""
