"""A site's module that takes its process with it when it is imported, as a crash of native code does."""

import os

os._exit(3)
