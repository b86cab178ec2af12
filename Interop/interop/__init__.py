"""Pairs this project's host and controllers with Bumble's and with rootcanal's."""
