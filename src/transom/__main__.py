"""`python -m transom`: the same as the command `transom`."""

from transom.cli import main

if __name__ == "__main__":
    main()
