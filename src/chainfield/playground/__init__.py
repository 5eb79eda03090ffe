"""A page to try models on texts: with answers of a server, or with the models inside."""

from .carrying import carry
from .page import Page, model_page, server_page

__all__ = ["Page", "carry", "model_page", "server_page"]
