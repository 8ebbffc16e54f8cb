"""`python -m msjob` is `msjob`."""

from msjob.cli import main

if __name__ == "__main__":
    main()
