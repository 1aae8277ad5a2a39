"""`python -m kinkeeper` is the program `kinkeeper`."""

from kinkeeper.cli.main import main

if __name__ == "__main__":
    main()
