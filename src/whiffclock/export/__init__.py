"""Policies as source code and tables for robots and other programs; each export is verified before it is written."""
