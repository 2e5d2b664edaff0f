"""A literal, slow implementation of the definitions: loops, one query at a time, all orders.

It shares no code with the package. Ties are settled by trying every order of the tied
documents: their mean, maximum and minimum are the average, best and worst.
"""

import itertools
import math

POLICY = {
    "ties": "doc",
    "unjudged": "zero",
    "absent": "zero",
    "negative": "keep",
    "missing": "zero",
    "empty": "zero",
}


def gain_of(gain, grade, negative):
    if gain == "linear":
        value = grade
    elif gain == "exp2":
        value = 2**grade - 1
    elif gain == "binary":
        value = 1.0 if grade > 0 else 0.0
    else:
        value = gain[grade]
    return max(0.0, value) if negative == "zero" else value


def discount_of(discount, base, rank):
    if discount == "log":
        return 1 / math.log(rank + 1, base)
    if discount == "jarvelin":
        return 1.0 if rank <= base else 1 / math.log(rank, base)
    if discount == "reciprocal":
        return 1 / rank
    if discount.startswith("power"):
        return rank ** -float(discount[len("power(") : -1])
    return 1.0


def cumulated(gains, discount, base, k):
    total = 0.0
    for rank, gain in enumerate(gains, 1):
        if k is None or rank <= k:
            total += gain * discount_of(discount, base, rank)
    return total


def orders(scores, ties):
    """Every order of the documents that the tie rule allows."""
    blocks = {}
    for doc, score in scores.items():
        blocks.setdefault(score, []).append(doc)
    ranked = [blocks[score] for score in sorted(blocks, reverse=True)]
    if ties == "doc":
        return [[doc for block in ranked for doc in sorted(block, key=str.encode, reverse=True)]]
    if ties == "doc_ascending":
        return [[doc for block in ranked for doc in sorted(block, key=str.encode)]]
    if ties == "order":
        return [[doc for block in ranked for doc in block]]
    choices = itertools.product(*(itertools.permutations(block) for block in ranked))
    return [[doc for block in choice for doc in block] for choice in choices]


def query_value(
    family,
    grades,
    scores,
    lowest,
    *,
    gain,
    discount,
    base,
    k,
    policy,
    ideal="judged",
    depth="cutoff",
):
    """The value of one query, or None where it is undefined."""
    grades = dict(grades)
    if policy["negative"] == "unjudged":
        grades = {doc: grade for doc, grade in grades.items() if grade >= 0}
    if policy["unjudged"] == "condense":
        scores = {doc: score for doc, score in scores.items() if doc in grades}
    elif policy["unjudged"] != "zero":
        for doc in scores:
            grades.setdefault(doc, policy["unjudged"])
    if policy["absent"] == "zero" or (policy["absent"] == "lowest" and math.isinf(lowest)):
        absent = 0.0
    else:
        grade = lowest if policy["absent"] == "lowest" else policy["absent"]
        absent = gain_of(gain, grade, policy["negative"])

    def worth(doc):
        return gain_of(gain, grades[doc], policy["negative"]) if doc in grades else 0.0

    def filled(gains):
        return gains + [absent] * (max(0, k - len(gains)) if k is not None else 0)

    if family == "CG":
        discount = "none"
    values = [
        cumulated(filled([worth(doc) for doc in order]), discount, base, k)
        for order in orders(scores, policy["ties"])
    ]
    choose = {"best": max, "worst": min}.get(policy["ties"], lambda all_: sum(all_) / len(all_))
    value = choose(values)

    pool = [worth(doc) for doc in (grades if ideal == "judged" else scores)]
    if ideal == "judged" and depth == "cutoff" and absent > 0:
        # At a fixed size there are as many absent documents as one likes.
        pool += [absent] * (k or 0)
    if policy["negative"] != "both":
        pool = [max(0.0, gain) for gain in pool]
    pool.sort(reverse=True)
    cut = {"cutoff": k, "all": None, "retrieved": min(len(scores), k or len(scores))}[depth]
    best = cumulated(pool, discount, base, cut)
    if family == "IDCG":
        return best
    if family != "nDCG":
        return value
    if best < 1e-12:  # what is left of terms that cancel is rounding
        return None
    return value / best


def evaluate(
    judgments,
    run,
    family,
    *,
    gain="linear",
    discount="log",
    base=2,
    k=None,
    ideal="judged",
    depth="cutoff",
    **choices,
):
    """The value of every query that counts, {query: value}."""
    policy = {**POLICY, **choices}
    known = [grade for docs in judgments.values() for grade in docs.values()]
    if policy["negative"] == "unjudged":
        known = [grade for grade in known if grade >= 0]
    lowest = min(known, default=math.inf)
    result = {}
    for query, grades in judgments.items():
        if query not in run and policy["missing"] == "skip":
            continue
        value = query_value(
            family,
            grades,
            run.get(query, {}),
            lowest,
            gain=gain,
            discount=discount,
            base=base,
            k=k,
            policy=policy,
            ideal=ideal,
            depth=depth,
        )
        of_run = "retrieved" in (ideal, depth)
        # Where nothing is known of the ideal, that the query is missing decides.
        if query not in run and family != "IDCG" and (value is not None or of_run):
            value = 0.0
        if value is None:
            if policy["empty"] == "skip":
                continue
            value = {"zero": 0.0, "one": 1.0, "nan": math.nan}[policy["empty"]]
        result[query] = value
    return result
