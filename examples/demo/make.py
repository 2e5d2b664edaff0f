"""Write the files of `gainful demo`: recipes, graded 0 to 3 for 20 queries, and the results of three search engines.

    python examples/demo/make.py [FOLDER]

The queries, titles and grades below were written by hand. The three runs are simulated, with a seed: `keyword` finds
titles that share words with the query, `semantic` mostly finds what is meant, and `hybrid` adds both scores up. Every
run returns ten recipes per query, each of which is judged, and no two scores of a query are equal, so that every tool
can read the files and no setting is needed to make sense of them.
"""

import csv
import random
import re
import statistics
import sys
from pathlib import Path

FILES = Path(__file__).resolve().parents[2] / "src" / "gainful" / "cli" / "demo_files"
SEED = 21
DEPTH = 10
STRANGERS = 6  # recipes of other queries that are judged, too

# A query: its id, its text, and recipes with their grades.
STUDY = """
tomato-soup: tomato soup
3 Roasted tomato soup with basil
3 Cream of tomato soup from a tin
2 Gazpacho with cucumber and bread
1 Slow-cooked tomato sauce for pasta
1 Pumpkin soup with ginger
0 Tomato salad with burrata
0 Tomato and mozzarella tart

vegan-lasagne: lasagne without meat or cheese
3 Lentil lasagne with cashew cream
3 Dairy-free aubergine and spinach lasagne
2 Mushroom lasagne with béchamel
1 Vegetable moussaka
1 Lasagne alla bolognese
0 Cheese lasagne with meatballs
0 Grilled cheese without a pan

banana-bread: banana bread without sugar
3 Sugar-free banana loaf
3 Banana bread sweetened with dates
2 Classic banana bread
2 Banana muffins with oats
1 Courgette bread
0 Banana milkshake without sugar
0 Sugar-glazed bread rolls

chicken-leftovers: what to do with leftover roast chicken
3 Chicken and leek pie with yesterday's roast
3 Quick chicken stock and noodle soup
2 Chicken fried rice
2 Chicken Caesar sandwich
1 Creamy chicken pasta
1 Weekday chicken ramen
0 Roast chicken with lemon and thyme
0 What to serve with roast chicken

quick-curry: curry in 20 minutes
3 Weeknight chickpea curry
3 Thai red curry with prawns, on the table in 20 minutes
2 Coconut dal
1 Lamb curry, slowly braised
1 Curry powder from scratch
0 Twenty-minute focaccia
0 Curried egg mayonnaise

apple-pie: apple pie with a crisp crust
3 Deep-dish apple pie with a butter crust
3 Grandmother's apple pie
2 French apple tart
2 Apple crumble
1 How to keep a pie crust crisp
0 Salmon with a crisp herb crust
0 Apple cider

pad-thai: pad thai
3 Pad thai with tofu
3 Prawn pad thai, street-food style
2 Rice noodles with tamarind and peanuts
1 Thai basil noodles
1 Peanut sauce for noodles
0 Thai green papaya salad
0 Thai iced tea

sourdough-beginner: sourdough bread for beginners
3 Your first sourdough loaf, step by step
3 No-knead sourdough
2 How to make a sourdough starter
2 Overnight country loaf
1 Sourdough discard crackers
0 Soda bread for beginners
0 Sourdough pizza at 450 degrees

egg-free-pancakes: pancakes without eggs
3 Fluffy vegan pancakes
3 Eggless buttermilk pancakes
2 Chickpea-flour pancakes
1 Swedish pancakes
1 Waffles without eggs
0 Pancakes with fried eggs
0 Eggs Benedict

salmon-oven: salmon in the oven
3 Baked salmon with dill
3 Salmon traybake with new potatoes
2 Salmon en papillote
2 Salmon with a crisp herb crust
1 Pan-fried salmon with crisp skin
1 Cod baked with tomatoes
0 Smoked salmon bagels
0 Oven chips

kids-lunchbox: lunchbox ideas for school
3 Rainbow wraps for school
3 Pizza scrolls for the lunchbox
2 Pasta salad that travels well
2 Oat bars without nuts
1 Hummus with vegetable sticks
0 Ideas for a school reunion buffet
0 A lunch of oysters

beef-stew: beef stew for a cold day
3 Beef and ale stew
3 Boeuf bourguignon
2 Goulash with paprika
2 Irish stew with barley
1 Beef stock
0 Cold roast beef with horseradish
0 Cold cucumber soup for a hot day

cauliflower: what can I make with a cauliflower
3 Whole roasted cauliflower
3 Cauliflower cheese
2 Cauliflower rice
2 Aloo gobi
2 Cauliflower pizza crust
1 Broccoli and walnut pasta
0 What to make with a glut of plums
0 Make your own pickling vinegar

chocolate-cake: moist chocolate cake
3 One-bowl chocolate cake with coffee
3 Devil's food cake
2 Chocolate and beetroot cake
2 Brownies
1 Chocolate ganache
0 Moist almond and orange cake
0 White chocolate mousse

gluten-free-pizza: gluten-free pizza dough
3 Pizza base without wheat
3 Gluten-free pizza in a pan
2 Cauliflower pizza crust
1 Neapolitan pizza dough
1 Gluten-free flatbreads
0 Dough for stuffed-crust pizza
0 Gluten-free brownies

ramen-broth: ramen broth
3 Tonkotsu broth in a pressure cooker
3 Weekday chicken ramen
2 Miso soup base
2 Dashi from scratch
1 Marinated ramen eggs
0 Broth fondue
0 Beef broth for a French onion soup

summer-salad: salad for a barbecue
3 German potato salad
3 Watermelon, feta and mint salad
2 Coleslaw with yoghurt
2 Greek salad
2 Pasta salad that travels well
2 Tomato salad with burrata
1 Thai green papaya salad
1 Grilled corn with lime
0 Barbecue sauce
0 Barbecue ribs with a winter salad

fish-tacos: fish tacos
3 Baja tacos with beer-battered cod
3 Grilled fish tacos with lime slaw
2 Prawn tacos
1 Pulled pork tacos
1 Pickled red onions for tacos
0 Fish fingers and chips
0 Fish pie

shakshuka: eggs in tomato sauce
3 Shakshuka with feta
3 Turkish menemen
2 Eggs in purgatory
2 Green shakshuka with spinach
1 Baked eggs with cream
0 Spaghetti in tomato sauce with basil
0 Scotch eggs with brown sauce

christmas-cookies: Christmas cookies to make with children
3 Gingerbread men to decorate
3 Cut-out butter biscuits
2 Cinnamon stars
2 Vanilla crescents
1 Chocolate chip cookies
0 Christmas dinner to make ahead
0 Christmas pudding with brandy
"""
PASSED_OVER = set("a and can do for from i in make of on or the to what with your".split())  # noqa: SIM905


def words_of(text: str) -> set[str]:
    """Return the words of a text that a search engine would index."""
    words = re.findall(r"[\w'-]+", text.casefold())
    return {word.removesuffix("s") for word in words if word not in PASSED_OVER}


def study() -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """Return the texts of the queries, the titles of the recipes, and the grades of each query."""
    queries: dict[str, str] = {}
    docs: dict[str, str] = {}
    grades: dict[str, dict[str, int]] = {}
    for block in STUDY.strip().split("\n\n"):
        head, *lines = block.split("\n")
        query, text = head.split(": ")
        queries[query], grades[query] = text, {}
        for line in lines:
            title = line[2:]
            doc = docs.setdefault(title, f"r{len(docs) + 1:03}")
            grades[query][doc] = int(line[0])
    return queries, {doc: title for title, doc in docs.items()}, grades


def with_strangers(
    queries: dict[str, str], titles: dict[str, str], grades: dict[str, dict[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the grades, with those recipes of other queries, graded 0, that share the most words with a query."""
    rng = random.Random(SEED)  # noqa: S311 - reproducible
    found = {}
    for query, own in grades.items():
        wanted = words_of(queries[query])
        others = [doc for doc in titles if doc not in own]
        rng.shuffle(others)
        others.sort(key=lambda doc: -len(words_of(titles[doc]) & wanted))
        found[query] = own | dict.fromkeys(others[:STRANGERS], 0)
    return found


def standard(scores: dict[str, float]) -> dict[str, float]:
    """Return scores with mean 0 and standard deviation 1."""
    mean, deviation = statistics.fmean(scores.values()), statistics.pstdev(scores.values())
    return {doc: (score - mean) / deviation for doc, score in scores.items()}


def runs_of(
    queries: dict[str, str],
    titles: dict[str, str],
    own: dict[str, dict[str, int]],
    grades: dict[str, dict[str, int]],
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the scores of each run: of each query, and each of its judged recipes."""
    rng = random.Random(SEED)  # noqa: S311 - reproducible
    runs: dict[str, dict[str, dict[str, float]]] = {"keyword": {}, "semantic": {}, "hybrid": {}}
    for query, judged in grades.items():
        wanted = words_of(queries[query])
        keyword, semantic = {}, {}
        for doc, grade in judged.items():
            words = words_of(titles[doc])
            near = 0.0 if doc in own[query] else -0.05
            shared = len(words & wanted) / len(wanted)
            rare = rng.gauss(0, 1.6) - 0.25 * len(words)
            keyword[doc] = round(9 + 9 * shared + 0.3 * grade + rare, 3)
            semantic[doc] = round(0.62 + 0.03 * grade + near + rng.gauss(0, 0.075), 4)
        by_word, by_meaning = standard(keyword), standard(semantic)
        hybrid = {doc: round((by_word[doc] + by_meaning[doc]) / 2, 4) for doc in judged}
        for run, scores in zip(runs.values(), (keyword, semantic, hybrid), strict=True):
            best = sorted(scores, key=lambda doc: -scores[doc])[:DEPTH]
            run[query] = {doc: scores[doc] for doc in best}
            if len({*run[query].values()}) < DEPTH:
                raise ValueError(f"two recipes of {query} have the same score: change the seed")
    return runs


def write(folder: Path) -> None:
    """Write every file into a folder."""
    queries, titles, own = study()
    grades = with_strangers(queries, titles, own)
    tables = {
        "judgments": ("query doc grade", grades),
        **{
            name: ("query doc score", run)
            for name, run in runs_of(queries, titles, own, grades).items()
        },
    }
    rows: dict[str, list[tuple[object, ...]]] = {
        name: [
            tuple(head.split()),
            *(
                (query, doc, number)
                for query, docs in table.items()
                for doc, number in docs.items()
            ),
        ]
        for name, (head, table) in tables.items()
    }
    rows["queries"] = [("query", "text"), *queries.items()]
    rows["docs"] = [("doc", "title"), *titles.items()]
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in rows.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FILES)
