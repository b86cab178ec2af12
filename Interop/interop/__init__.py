"""Tests this project's host and controllers against Bumble and rootcanal."""
