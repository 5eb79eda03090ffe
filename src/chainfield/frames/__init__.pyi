from chainfield.text.tagging.arrow import span_type as span_type
from chainfield.text.tagging.arrow import tag_array as tag_array
from chainfield.text.tagging.arrow import tag_arrow as tag_arrow

from .sequences import FrameSequences as FrameSequences
from .sequences import read_frame as read_frame
