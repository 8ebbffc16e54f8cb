"""`python -m msjob` is `msjob`."""

from msjob_cli.main import main

if __name__ == "__main__":
    main()
