"""`python -m parsimon` is `parsimon`."""

from parsimon.cli import main

if __name__ == "__main__":
    main()
