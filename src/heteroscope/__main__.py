"""`python -m heteroscope` is `heteroscope`."""

from heteroscope.cli import main

if __name__ == "__main__":
    main(prog_name="heteroscope")
