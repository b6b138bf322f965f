"""The maximum-entropy model: one distribution fitted to noisy marginals.

Its inputs are released values, so everything here is public; this room cannot name a
frame, an engine or a secret.
"""
