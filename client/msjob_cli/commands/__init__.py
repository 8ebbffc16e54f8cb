"""The commands, one a module; each holds a `command`."""
