from .calibration import Calibration as Calibration
from .calibration import fit_calibration as fit_calibration
from .conformal import conformal_threshold as conformal_threshold
from .sequence_sets import AnswerSet as AnswerSet
from .sequence_sets import SequenceSets as SequenceSets
