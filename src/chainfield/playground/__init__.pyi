from .carrying import carry as carry
from .page import Page as Page
from .page import model_page as model_page
from .page import server_page as server_page
