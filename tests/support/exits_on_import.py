"""A site's module that ends the process when it is imported."""

import sys

sys.exit("no licence")
