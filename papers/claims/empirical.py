"""What Zhu, Hiemstra, Apers and Wombacher claim of empirical (closed-form) training."""

from __future__ import annotations

from harness.claims import Claim, Paper
from harness.figures import Curve, Figure, Picture, ours, published

SIZES = (1000, 2500, 4000, 17_311, 32_623)
MOST = SIZES[-1]
UNKNOWN, KNOWN = "accuracy, unknown words", "accuracy, known words"
LETTER = "EP2, to the letter"
OBJECTIVE, RIGHT = "objective of standard training", "right labels of [b, c], of 2"


def _brown(model: str, n: int, metric: str = "accuracy") -> Figure:
    experiment = "empirical-brown" if model.startswith("EP") else "empirical-brown-crf"
    return Figure(experiment, f"{model}, {n:,} training sentences", metric)


def _dutch(model: str, metric: str = "accuracy") -> Figure:
    return Figure("empirical-dutch-ner", model, metric)


def _bias(model: str) -> Figure:
    return Figure("empirical-label-bias", model, "accuracy")


def _optimum(model: str, metric: str) -> Figure:
    return Figure("empirical-test-time", model, metric)


def _draws(n: int) -> str:
    return "" if n <= 4000 else "Counting: mean of five draws of sentences; the other: the first of them."


EMPIRICAL = Paper(
    "Closed form maximum likelihood estimator of conditional random fields (Zhu, Hiemstra, Apers and Wombacher)",
    "`EmpiricalCRF`: a CRF by counting, in one pass over the data. Figures are the accuracy of tokens in per cent. EP1 "
    "judges unseen words by means of counts, EP2 by fitted exponential functions. EP1 and EP2 are smoothed here, which "
    'goes beyond the paper, and how much is chosen on held-out data; "to the letter" is EP2 as the paper has it, '
    "without smoothing. Where EP1 is above the CRF, that is to the credit of the smoothing: EP2 to the letter is not. "
    "The CRF of Brown leaves out labels that a model of single positions finds implausible, which costs up to 0.3 "
    "points with 1,000 sentences ([many labels](../docs/many_labels.md)). Draws of sentences differ: EP1 has 95.56 to "
    "96.25 on the five of the largest size.",
    (
        Claim("Label bias: a MEMM (maximum-entropy Markov model) has it, EP1 does not.", _bias("EP1"), _bias("MEMM")),
        Claim("Label bias: empirical training is as good as a CRF.", _bias("EP1"), _bias("CRF"), within=0.5),
        Claim(
            "Only this parametrisation works: one of local probabilities (11) has the label bias.",
            _bias("EP1, four tags"),
            _bias("parametrisation (11), four tags"),
        ),
        Claim(
            "Only this parametrisation works: one of quotients (10) ends in a worse model.",
            _bias("EP1, four tags"),
            _bias("parametrisation (10), 1,000 steps, four tags"),
            note="After ten of its steps it is as good; the longer it is trained, the worse.",
        ),
        Claim(
            "Standard training from zero ends in an optimum that labels [b, c] wrongly; counting does not.",
            _optimum("EP1 (ep)", RIGHT),
            _optimum("standard training from zero", RIGHT),
        ),
        Claim(
            "There are several optima: one of them (tp) has the objective of counting, and labels [b, c] wrongly.",
            _optimum("tp", OBJECTIVE),
            _optimum("EP1 (ep)", OBJECTIVE),
            within=1e-5,
        ),
        *(
            Claim(f"Brown, {n:,} sentences: EP1 above the CRF.", _brown("EP1", n), _brown("CRF", n), note=_draws(n))
            for n in SIZES
        ),
        *(
            Claim(
                f"Brown, {n:,} sentences: EP2 to the letter above the CRF.",
                _brown(LETTER, n),
                _brown("CRF", n),
                note=_draws(n),
            )
            for n in SIZES
        ),
        *(
            Claim(
                f"Brown, {n:,} sentences: EP1 above piecewise training.",
                _brown("EP1", n),
                _brown("piecewise", n),
                note=_draws(n),
            )
            for n in SIZES
        ),
        *(
            Claim(
                f"Brown, {n:,} sentences: the CRF above EP1 on unknown words.",
                _brown("CRF", n, UNKNOWN),
                _brown("EP1", n, UNKNOWN),
                note=_draws(n),
            )
            for n in SIZES
        ),
        Claim(
            f"Brown, {MOST:,} sentences: EP1 above the CRF on known words.",
            _brown("EP1", MOST, KNOWN),
            _brown("CRF", MOST, KNOWN),
            note=_draws(MOST),
        ),
        Claim(f"Brown, {MOST:,} sentences: EP2 is not below EP1.", _brown("EP2", MOST), _brown("EP1", MOST)),
        Claim(
            f"Brown, {MOST:,} sentences: training takes seconds, that of a CRF takes weeks.",
            _brown("EP1", MOST),
            _brown("CRF", MOST),
            seconds=True,
            note="No CRF takes weeks any more.",
        ),
        Claim("Dutch entities: EP1 is about as good as a CRF.", _dutch("EP1"), _dutch("CRF"), within=0.05),
        Claim("Dutch entities: EP2 is above EP1.", _dutch("EP2"), _dutch("EP1")),
        Claim("Dutch entities: EP2 to the letter has 96.14.", _dutch(LETTER)),
        Claim(
            "Dutch entities: EP2 to the letter is about as good as a CRF.", _dutch(LETTER), _dutch("CRF"), within=0.05
        ),
        Claim("Dutch entities: EP1 above piecewise training.", _dutch("EP1"), _dutch("piecewise")),
        Claim("Dutch entities: the CRF above EP1 on unknown words.", _dutch("CRF", UNKNOWN), _dutch("EP1", UNKNOWN)),
        Claim("Dutch entities: the CRF above EP2 on unknown words.", _dutch("CRF", UNKNOWN), _dutch("EP2", UNKNOWN)),
        Claim(
            "Unknown words would be better if they were trained together with known ones: Dutch entities.",
            _dutch("EP2, trained together", UNKNOWN),
            _dutch("EP2", UNKNOWN),
            note="A hope of the paper's, which has no figure.",
        ),
        *(
            Claim(
                f"Unknown words would be better if they were trained together with known ones: Brown, {n:,} sentences.",
                _brown("EP2, trained together", n, UNKNOWN),
                _brown("EP2", n, UNKNOWN),
            )
            for n in SIZES
        ),
    ),
    (
        Picture(
            "pictures/brown.svg",
            "Parts of speech in the Brown corpus: error against the number of training sentences",
            ("training sentences", "error of tokens, %"),
            {  # two sizes of the CRF have one draw, those of counting five: said in the words above
                f"{name}, {whose}": Curve([(n, _brown(model, n)) for n in SIZES], value, share=True)
                for whose, value in (("here", ours), ("published", published))
                for name, model in (("counting (EP1)", "EP1"), ("CRF", "CRF"))
            },
        ),
    ),
)
