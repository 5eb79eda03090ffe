from .arrow import tag_arrow as tag_arrow
from .sequences import FrameSequences as FrameSequences
from .sequences import read_frame as read_frame
