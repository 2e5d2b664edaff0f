"""Random states of the playground, and what gainful is given for the same."""

import random

WHOLE = (None, 0, 0, 1, 2, 3)
ANY = (*WHOLE, -1, -2, 0.5)
DEFAULTS = {
    "k": "all", "gain": "linear", "discount": "log", "base": "2", "ideal": "judged", "ties": "doc",
    "depth": "cutoff", "unjudged": "zero", "negative": "keep", "scale": "3",
}  # fmt: skip
ANSWERS = {
    "k": ("all", "1", "2", "3", "4", "5", "7", "9"),
    "gain": ("linear", "exp2", "binary"),
    "discount": ("log", "jarvelin", "reciprocal", "power(0.5)", "power(2)", "none"),
    "base": ("2", "e", "3", "5", "10"),
    "ideal": ("judged", "retrieved"),
    "ties": ("doc", "average", "best", "worst", "order", "doc_ascending"),
    "depth": ("cutoff", "all", "retrieved"),
    "unjudged": ("zero", "condense"),
    "negative": ("keep", "zero", "both"),
}


def documents(rng, grades=ANY, most=7):
    """Return a list and a rest, with ties, in which at least one document is judged."""
    letters = rng.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", most + 3)
    chance = rng.choice((0, 0.3, 0.8))
    listed = [
        {"id": letters.pop(), "grade": rng.choice(grades), "tied": bool(place) and rng.random() < chance}
        for place in range(rng.randint(1, most))
    ]  # fmt: skip
    rest = [
        {"id": letters.pop(), "grade": rng.choice(grades), "tied": False}
        for _ in range(rng.randint(0, 3))
    ]
    if all(doc["grade"] is None for doc in listed + rest):
        listed[0]["grade"] = 1
    return {"list": listed, "rest": rest}


def chosen(rng, **fixed):
    """Return random settings; where they leave a choice without effect, the default."""
    found = {name: rng.choice(answers) for name, answers in ANSWERS.items()} | {"scale": "3"}
    found |= fixed
    if found["discount"] not in ("log", "jarvelin"):
        found["base"] = "2"
    return found


def measure(state, name="nDCG"):
    """Return the measure of a state in the notation, all parameters written out."""
    parameters = [f"gain={state['gain']}"]
    if name != "CG":
        parameters.append(f"discount={state['discount']}")
        if state["discount"] in ("log", "jarvelin"):
            parameters.append(f"base={state['base']}")
    if name in ("nDCG", "IDCG"):
        parameters += [f"ideal={state['ideal']}", f"depth={state['depth']}"]
    return f"{name}({', '.join(parameters)})" + ("" if state["k"] == "all" else f"@{state['k']}")


def policy(state):
    return {name: state[name] for name in ("ties", "unjudged", "negative")}


def inputs(states):
    """Return judgments and a run with a query for each state."""
    judgments, run = {}, {}
    for place, state in enumerate(states):
        known = state["list"] + state["rest"]
        judgments[f"q{place}"] = {
            doc["id"]: doc["grade"] for doc in known if doc["grade"] is not None
        }
        score, scores = 100.0, {}
        for at, doc in enumerate(state["list"]):
            score -= 0 if at and doc["tied"] else 1
            scores[doc["id"]] = score
        run[f"q{place}"] = scores
    return judgments, run


def drawn(seed):
    return random.Random(seed)  # noqa: S311
