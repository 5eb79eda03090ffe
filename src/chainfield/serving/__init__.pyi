from .application import make_application as make_application
from .bounds import Bounds as Bounds
from .registry import Registry as Registry
from .registry import Source as Source
