"""Frame and question in, exact integers out, closed in a Secret.

``ingest`` reads a frame's declared types; its `Source` reduces it. The frame comes in
through one shim per library (`polars`, `pandas`, `pyarrow`); the plan is one, written
in narwhals.
"""
