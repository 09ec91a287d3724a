"""``python -m hbstore`` is the command ``hbstore``."""

from hbstore.cli import main

if __name__ == "__main__":
    main()
