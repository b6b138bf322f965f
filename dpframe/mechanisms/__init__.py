"""Requests, one file for each algorithm. Only here is a Secret opened."""
