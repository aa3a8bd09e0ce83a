"""The numbers in the paper's two tables, exactly as printed: mean ± standard deviation over six runs.

Source: Wong-Toi, Boyd, Fortuin and Mandt, "Understanding Pathologies of Deep Heteroskedastic Regression", UAI 2024: the
table of Section 4.2 (SMALL) and the table of Appendix D (LARGE). The tables contradict each other or themselves in a
few places; nothing is corrected here, and docs/results.md names these places.
"""

from typing import TypeAlias

OURS, BETA_NLL, ENSEMBLE = "ours", "beta-NLL", "MLE ensemble"  # the paper's names of the methods
Printed: TypeAlias = dict[str, dict[str, dict[str, str]]]  # text by data set, metric and method

SMALL: Printed = {
    "sine": {
        "mean_mse": {OURS: "0.80 ± 0.00", BETA_NLL: "4.41 ± 6.90"},
        "std_mse": {OURS: "0.80 ± 0.00", BETA_NLL: "4.35 ± 6.89"},
    },
    "concrete": {
        "mean_mse": {OURS: "0.11 ± 0.02", BETA_NLL: "14.99 ± 28.75"},
        "std_mse": {OURS: "0.30 ± 0.51", BETA_NLL: "1.3e5 ± 2.7e5"},
    },
    "housing": {
        "mean_mse": {OURS: "1.22 ± 0.00", BETA_NLL: "8.5e2 ± 2.0e4"},
        "std_mse": {OURS: "0.76 ± 0.00", BETA_NLL: "8.5e2 ± 2.0e4"},
    },
    "power": {
        "mean_mse": {OURS: "0.04 ± 0.01", BETA_NLL: "0.03 ± 0.01"},
        "std_mse": {OURS: "0.03 ± 0.01", BETA_NLL: "0.04 ± 0.01"},
    },
    "yacht": {
        "mean_mse": {OURS: "0.01 ± 0.01", BETA_NLL: "3.4e2 ± 1.9e2"},
        "std_mse": {OURS: "0.01 ± 0.01", BETA_NLL: "3.4e2 ± 1.9e2"},
    },
    "solar flux": {
        "mean_mse": {OURS: "0.29 ± 0.00", BETA_NLL: "0.49 ± 0.16"},
        "std_mse": {OURS: "0.12 ± 0.00", BETA_NLL: "0.29 ± 0.01"},
    },
}


def _three(ours: str, beta_nll: str, ensemble: str) -> dict[str, str]:
    """Return one row of the large table."""
    return {OURS: ours, BETA_NLL: beta_nll, ENSEMBLE: ensemble}


LARGE: Printed = {
    "cubic": {
        "ece": _three("0.2380 ± 0.03", "0.2385 ± 0.02", "0.2411 ± 0.02"),
        "mean_mse": _three("0.2339 ± 0.01", "0.1500 ± 0.01", "1.1809 ± 1.88"),
        "std_mse": _three("0.2397 ± 0.02", "0.1397 ± 0.01", "inf ± nan"),
    },
    "curve": {
        "ece": _three("0.1804 ± 0.02", "0.1754 ± 0.02", "0.2432 ± 0.00"),
        "mean_mse": _three("0.4318 ± 0.12", "0.4877 ± 0.16", "1.0067 ± 0.19"),
        "std_mse": _three("0.4655 ± 0.09", "0.4187 ± 0.20", "inf ± nan"),
    },
    "sine": {
        "ece": _three("0.2499 ± 0.00", "0.2082 ± 0.03", "0.2313 ± 0.05"),
        "mean_mse": _three("0.7968 ± 0.00", "4.4107 ± 6.90", "0.9716 ± 0.06"),
        "std_mse": _three("0.7968 ± 0.00", "4.3524 ± 6.89", "inf ± nan"),
    },
    "concrete": {
        "ece": _three("0.2471 ± 0.01", "0.2552 ± 0.00", "0.0655 ± 0.01"),
        "mean_mse": _three("0.1055 ± 0.02", "14.9882 ± 28.75", "2.2454 ± 1.74"),
        "std_mse": _three("0.3028 ± 0.51", "1.3e5 ± 2.7e5", "1.3e5 ± 1.2e5"),
    },
    "housing": {
        "ece": _three("0.0653 ± 0.00", "0.2631 ± 0.01", "0.1332 ± 0.02"),
        "mean_mse": _three("1.2236 ± 0.00", "851.8968 ± 1985.56", "155.4494 ± 128.27"),
        "std_mse": _three("0.7610 ± 0.00", "851.8959 ± 1985.56", "218.8269 ± 195.38"),
    },
    "power": {
        "ece": _three("0.2233 ± 0.01", "0.2370 ± 0.00", "0.0285 ± 0.01"),
        "mean_mse": _three("0.0350 ± 0.01", "0.0313 ± 0.01", "0.0177 ± 0.00"),
        "std_mse": _three("0.0343 ± 0.01", "0.0360 ± 0.01", "0.0091 ± 0.00"),
    },
    "yacht": {
        "ece": _three("0.3038 ± 0.04", "0.2882 ± 0.02", "0.0463 ± 0.02"),
        "mean_mse": _three("0.0077 ± 0.01", "34.1239 ± 194.87", "6.2670 ± 13.96"),
        "std_mse": _three("0.0076 ± 0.01", "34.1237 ± 194.87", "8.0599 ± 19.18"),
    },
    "solar flux": {
        "ece": _three("0.1503 ± 0.00", "0.3007 ± 0.00", "0.1924 ± 0.04"),
        "mean_mse": _three("0.2887 ± 0.00", "0.4877 ± 0.16", "1.0067 ± 0.19"),
        "std_mse": _three("0.1175 ± 0.00", "0.2881 ± 0.01", "4.6e9 ± 9.9e9"),
    },
}
