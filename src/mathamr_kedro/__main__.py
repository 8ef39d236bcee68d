"""Run the project as a package: ``python -m mathamr_kedro``."""

from mathamr_kedro.cli import main

if __name__ == "__main__":
    main()
