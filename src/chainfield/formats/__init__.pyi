from .catalogue import FORMATS as FORMATS
from .catalogue import convert as convert
from .catalogue import format_of as format_of
from .catalogue import read_documents as read_documents
from .catalogue import write_documents as write_documents
from .format import Format as Format
from .format import Report as Report
