"""Results -> matplotlib figures. Nothing here trains or computes: what is drawn was handed over as data."""
