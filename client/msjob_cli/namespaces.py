"""The name of a namespace, on the command line."""

import click


def namespace_name(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Check the value of `--namespace`."""
    from msjob.settings import DNS_LABEL  # noqa: PLC0415 - takes time, which the help has not

    if value is not None and not DNS_LABEL.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no namespace name: use lower-case letters, digits and '-'")
    return value
