"""
Entropy and profiles: what to compute from noisy counts of words
================================================================

One histogram of the words of Shakespeare is released, over a dictionary of which half
does not occur. What is computed from it is free of charge, but the plug-in, the
statistic of the noisy counts, is not harmless: it piles up the noise of every word.
`debias` takes that bias away exactly. The text is public, so the truth can be shown.
"""

from pathlib import Path

import numpy as np
import polars as pl

import dpframe as dpf
from dpframe.estimands import at_least, entropy, median, profile, separable

here = Path(__file__).parent / "data"
words = pl.read_csv(here / "shakespeare_word_counts.csv")
text = words.select(pl.col("word").repeat_by("count").explode())  # one row, one token

# %%
# The dictionary is public; which of its words occur, and how often, is not.
dictionary = words["word"].to_list() + [f"unused-{i}" for i in range(words.height)]
session = dpf.Session(epsilon=2, unit="row", domain=dpf.Domain({"word": dictionary}))
with session:
    h = text.dp.histogram(1.0, by="word")
    top = text.dp.top_k("word", 3, 0.5)

# %%
# A second text of this length would bring as many new words as this one has words used
# once, less those used twice, plus those used three times … (Good and Toulmin, 1956).
new_words = separable(lambda x: (x > 0) * -((-1.0) ** x), "new words")

x = words["count"].to_numpy()
share = x / x.sum()
truth = [
    (entropy, -(share @ np.log(share))),
    (profile(0), words.height),
    (profile(1), (x == 1).sum()),
    (at_least(10), (x >= 10).sum()),
    (new_words, new_words.f(x).sum()),
]
print(f"{'':14}{'true':>10}{'naive':>11}{'unbiased':>11}{'± se':>9}  95 % interval")


def show(name, true, e):
    """Print an estimate beside the plug-in and what both are after."""
    low, high = e.interval(0.95)
    figures = f"{true:10,.3f}{e.plug_in:11,.3f}{e.value:11,.3f}{e.std_error:9,.3f}"
    print(f"{name:14}{figures}  [{low:,.3f}, {high:,.3f}]")


for estimand, true in truth:
    show(estimand.name, true, h.debias(estimand))

# If the length of the text is a public fact, say so: part of the noise can be told.
show("with total=", truth[0][1], h.debias(entropy, total=text.height))

# %%
# What cannot be had is refused, with the reason.
requests = {
    "entropy of the three commonest words": lambda: top.debias(entropy),
    "entropy from counts with continuous noise": lambda: h.to_laplace().debias(entropy),
    "median count of a word": lambda: h.debias(median),
    "function of all 24,746 counts at once": lambda: h.debias(lambda rows: rows.max(1)),
}
for request, ask in requests.items():
    try:
        ask()
    except dpf.DPFrameError as error:
        print(f"\n{request}:\n  {type(error).__name__}: {error}")

print(f"\nThe commonest words: {', '.join(top.keys)}\n")
print(session)
