"""Reading MSJobs from files: YAML and JSON as kubectl reads them, with the line of every field, safe on any input."""

from msjob.loading.documents import Document, jobs, read
from msjob.loading.errors import LoadError
from msjob.loading.files import STDIN, files, read_bytes

__all__ = ["STDIN", "Document", "LoadError", "files", "jobs", "read", "read_bytes"]
