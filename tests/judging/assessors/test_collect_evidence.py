"""`collect_evidence` and `collect_nuggets`: what is asked, how quotes are located, and that the results are inputs."""

import json

import pytest

import gainful as gf
from chat_server import Answer, serving
from gainful.judging.assessors.answer_reading import forms_of, read_listed

LEAVE = "# Leave\n\nStaff have 25 days of leave.\nThey say “ask early”, and ask early they must.\n\nAsk early!\n"
TRAVEL = "Book trains early. The budget is 80 € a night – é, not more."
DOCS = {"leave.md": LEAVE, "travel.md": TRAVEL}
HOW_MANY, HOW_MUCH = "How many days of leave do I have?", "How much is a night?"
PAIRS = {HOW_MANY: ["leave.md", "travel.md"], HOW_MUCH: ["travel.md"]}


def reader(**answers):
    """Return a model that gives an answer by document, and none for any other."""

    def model(prompt):
        text = prompt.split("The text:\n")[1].split("\n\nHow to copy:")[0]
        found = [answer for name, answer in answers.items() if DOCS[f"{name}.md"].startswith(text)]
        return found[0] if found else "passage: none"

    return model


def collect(model, pairs=PAIRS, **options):
    return gf.judging.collect_evidence(pairs, model, **{"docs": DOCS, **options})


def place(doc, text):
    start = DOCS[doc].index(text)
    return {"document": doc, "start_char": start, "end_char": start + len(text), "text": text}


QUOTED = {
    HOW_MANY: [place("leave.md", "Staff have 25 days of leave.\nThey say “ask early”")],
    HOW_MUCH: [place("travel.md", "80 € a night"), place("travel.md", "é, not more")],
}


def quoting(prompt):
    """Quote with other white space and other quotes, after some thoughts."""
    question, text = prompt.split("The question:\n")[1].split("\n\nThe text:\n")
    if question == HOW_MANY and text.startswith("# Leave"):
        return 'I see.\n- passage: "Staff have 25 days of leave. They say "ask early""'
    if question == HOW_MUCH:
        return "**passage 1:** 80 € a night\npassage 2: é, not more"
    return "passage: none"


def test_quotes_are_located_and_the_result_is_evidence(tmp_path):
    found = collect(quoting)
    assert dict(found) == QUOTED
    assert found.doubtful == []
    assert not found.passages[0].exact
    assert found.summary.startswith("3 passages for 2 queries; quoting: 3 of 3 documents read; 3 ")
    assert dict(found.collected) == {
        HOW_MANY: {"leave.md": 1, "travel.md": 0},
        HOW_MUCH: {"travel.md": 1},
    }
    run = {HOW_MANY: [("leave.md", 0, 30)], HOW_MUCH: [("travel.md", 0, 60)]}
    first = QUOTED[HOW_MANY][0]
    recall = (30 - first["start_char"]) / (first["end_char"] - first["start_char"])
    for name in ("", "e.csv", "e.tsv", "e.jsonl", "e.parquet", "e.csv.gz"):
        if name:
            found.write(tmp_path / name)
        for documents in (None, DOCS):  # with documents, the texts are compared with their offsets
            scores = gf.evaluate(
                tmp_path / name if name else found,
                run,
                "evidence_recall",
                offsets="characters",
                documents=documents,
            )
            assert scores.per_query.to_dict() == {
                HOW_MANY: {"evidence_recall": pytest.approx(recall)}, HOW_MUCH: {"evidence_recall": 1}
            }  # fmt: skip
    told = json.loads(found.to_json())
    assert told["evidence"] == QUOTED
    assert [row["answer"] is not None for row in told["collected"]["rows"]] == [True] * 3


def test_a_query_without_a_passage_is_judged(tmp_path):
    found = collect(
        reader(travel="passage: Book trains early."), {**PAIRS, "What else?": ["leave.md"]}
    )
    assert found["What else?"] == []
    run = {query: [("travel.md", 0, 18)] for query in found}
    for name in ("e.csv", "e.jsonl", "e.parquet"):
        found.write(tmp_path / name)
        scores = gf.evaluate(tmp_path / name, run, "evidence_recall", offsets="characters")
        assert scores.queries == [*found] or {*scores.queries} == {*found}
        assert [*scores.coverage.empty] == ["What else?"]
        # As a run, it returns nothing for that query.
        reverse = gf.evaluate(found, tmp_path / name, "evidence_recall", offsets="characters")
        assert reverse.per_query.to_dict()[HOW_MUCH] == {"evidence_recall": 1}


@pytest.mark.parametrize(
    "row",
    [
        f"{HOW_MANY},,,,0,\n{HOW_MANY},leave.md,1,5,1,\n",
        f"{HOW_MANY},,,,,\n",
        f"{HOW_MANY},,,,1,\n",
    ],
)
def test_other_rows_without_a_passage_are_mistakes(files, row):
    table = files("e.csv", f"query,document,start,end,grade,text\nq,leave.md,0,4,1,\n{row}")
    with pytest.raises(
        gf.errors.InputError, match="expected a passage: a document with start and end"
    ):
        gf.evaluate(table, {"q": [("leave.md", 0, 4)]}, "evidence_recall", offsets="characters")


@pytest.mark.parametrize(
    ("answer", "why", "places"),
    [
        ("passage: Staff have 28 days of leave.", "'Staff have 28 days of leave.' does not occur in the text; the nearest passage is", 0),
        ("passage: sk early", "occurs 3 times", 3),
        ("passage: Staff have 25 days.\npassage: 25 days", "'Staff have 25 days.' does not occur", 0),
        ("passage: 25 days … early", "does not occur", 0),
        ("passage: qzx", "'qzx' does not occur in the text", 0),
    ],
)  # fmt: skip
def test_quotes_that_are_not_in_exactly_one_place_are_left_out(answer, why, places):
    found = collect(reader(leave=answer), {HOW_MANY: ["leave.md"]})
    (unread,) = found.collected.unread
    assert why in unread.why
    assert unread.answer == answer
    assert found.doubtful[0].places == places
    assert [one["text"] for one in found.get(HOW_MANY, [])] == (
        ["25 days"] if "\n" in answer else []
    )
    assert "1 quote left out" in found.summary
    assert "quotes left out" in str(found)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "an empty answer"),
        ("I found nothing.", "no line with 'passage:'"),
        ("passage:", "an empty passage"),
        ("passage: 25 days\npassage:   ", "an empty passage"),
        ("passage: none\npassage: 25 days", "both texts and none"),
        ('{"passages": [1]}', "an empty passage"),
        ('{"quotes": ["25 days"]}', "no line with 'passage:'"),
    ],
)
def test_nonsense_is_unread(answer, why):
    found = collect(reader(leave=answer), {HOW_MANY: ["leave.md"]})
    assert [one.why for one in found.collected.unread] == [why]
    assert dict(found) == {}


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("passage: a\nand b\npassage: c", ["a\nand b", "c"]),
        ('{"passages": ["a", "b"]}', ["a", "b"]),
        ('```json\n["a"]\n```', ["a"]),
        ('Here it is.\n{"passage": "a"}', ["a"]),
        ("<think>passage: x</think>passage: a", ["a"]),
        ("1. Passage: a", ["a"]),
        ("The passage: is long.\npassage: a", ["a"]),
        ("passage: None.", []),
        ("[]", []),
    ],
)
def test_answers_list_texts(answer, texts):
    items, why = read_listed(answer, ["passage"])
    assert ([text for _, text in items], why) == (texts, "")


@pytest.mark.parametrize("text", ['"a"', "“a”", "«a»", "`a`", "**a**", "'a'", "a"])
def test_quotation_marks_around_a_quote_are_removed(text):
    assert forms_of(text)[-1] == "a"


def test_a_model_is_asked_again_about_doubtful_quotes(tmp_path):
    def answer(prompt, before):
        if "# Leave" not in prompt:
            return Answer("passage: none")
        return Answer("passage: 25 days" if before else "passage: 25 dayz")

    how = {
        "endpoint": None,
        "cache": tmp_path / "answers.jsonl",
        "pairs": {HOW_MANY: PAIRS[HOW_MANY]},
    }
    with serving(answer) as server:
        how["endpoint"] = server.url
        assert HOW_MANY not in collect("m", **how)  # its document leave.md is in doubt
        assert len(server.prompts) == 2
        assert HOW_MANY not in collect("m", **how)  # from the cache
        assert len(server.prompts) == 2
        found = collect("m", ask_again=1, **how)
        assert [one["text"] for one in found[HOW_MANY]] == ["25 days"]
        assert len(server.prompts) == 3
        assert collect("m", **how).collected.cached == 2
        cached = (tmp_path / "answers.jsonl").read_text(encoding="utf-8")
    assert cached.count("passage: 25 dayz") == 1  # every answer is kept


def test_failures_are_counted_and_a_second_call_asks_only_for_the_rest(tmp_path):
    broken = True

    def answer(prompt, _):
        if broken and HOW_MUCH in prompt:
            return Answer(status=500, body={"error": "busy"})
        return Answer(quoting(prompt))

    with serving(answer) as server:
        how = {"endpoint": server.url, "cache": tmp_path / "a.jsonl", "retries": 0}
        found = collect("m", **how)
        assert dict(found) == {HOW_MANY: QUOTED[HOW_MANY]}
        assert [one.query for one in found.collected.failed] == [HOW_MUCH]
        broken, before = False, len(server.prompts)
        assert dict(collect("m", **how)) == QUOTED
        assert len(server.prompts) == before + 1
        limited = collect("m", endpoint=server.url, max_calls=1, concurrency=1)
    assert limited.collected.limit == "max_calls"
    assert len(limited.collected.waiting) == 2


def test_chunks_are_read_instead_of_documents():
    run = {HOW_MANY: [("leave.md", 9, 37), ("leave.md", 20, 60), ("travel.md", 0, 10)]}
    texts = []

    def model(prompt):
        texts.append(prompt.split("The text:\n")[1].split("\n\nHow to copy:")[0])
        return "passage: 25 days" if "25 days" in texts[-1] else "passage: none"

    found = collect(model, run, offsets="characters", depth=2)
    assert texts == [LEAVE[9:37], LEAVE[20:60]]
    assert found[HOW_MANY] == [place("leave.md", "25 days")]  # once, though both chunks have it
    assert [row.doc for row in found.collected.rows] == ["leave.md 9–37", "leave.md 20–60"]
    # Bytes count differently from characters after “.
    start, end = (len(TRAVEL[:at].encode()) for at in (TRAVEL.index("é"), len(TRAVEL)))
    in_bytes = {HOW_MUCH: [("travel.md", start, end)]}
    found = collect(lambda _: "passage: not more", in_bytes, offsets="bytes", depth=5)
    assert found[HOW_MUCH] == [place("travel.md", "not more")]
    by_id = {HOW_MANY: ["c1", "c2"]}
    table = {"c1": ("leave.md", 9, 37), "c2": ("travel.md", 0, 10)}
    found = collect(model, by_id, offsets="characters", chunk_table=table, depth=2)
    assert found[HOW_MANY] == [place("leave.md", "25 days")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"docs": {"leave.md": LEAVE}}, "docs: expected text for each of 2 ids, found none for 1: 'travel.md'"),
        ({"docs": {**DOCS, "travel.md": " "}}, "found none for 1: 'travel.md'"),
        ({"pairs": {"q1": ["leave.md"]}}, "queries: expected the text of the queries, found none, and ids that aren't texts: 'q1'"),
        ({"offsets": "characters"}, "pairs: expected a depth for a run of chunks"),
        ({"offsets": "tokens", "depth": 1}, "offsets: expected characters or bytes"),
        ({"pairs": {HOW_MANY: [("leave.md", 0, 900)]}, "offsets": "characters", "depth": 1}, "an end within document 'leave.md', which has"),
        ({"pairs": {HOW_MANY: [("other.md", 0, 9)]}, "offsets": "characters", "depth": 1}, "one of the documents.*'other.md'"),
        ({"grades": [0, 1]}, "grades: expected None, since the answers are fixed"),
        ({"per_prompt": 2}, "per_prompt: expected None, since the answers are fixed"),
        ({"prompt": "{query} {documents"}, "prompt:1: expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said(options, message):
    with pytest.raises(gf.errors.InputError, match=message):
        collect(quoting, **options)


def test_a_golden_set_and_a_folder_are_enough(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in DOCS.items():
        (folder / name).write_text(text, encoding="utf-8")
    golden = tmp_path / "golden.jsonl"
    lines = [json.dumps({"question": query, "relevant": docs}) for query, docs in PAIRS.items()]
    golden.write_text("\n".join(lines), encoding="utf-8")
    assert dict(gf.judging.collect_evidence(golden, quoting, docs=folder)) == QUOTED
    grades = gf.judging.collect_grades(
        golden, lambda prompt: "2" if LEAVE[:9] in prompt else "0", docs=folder
    )
    assert dict(grades) == {HOW_MANY: {"leave.md": 2, "travel.md": 0}, HOW_MUCH: {"travel.md": 0}}


def test_calibrate_corrects_the_passages_of_a_model():
    queries = [f"question {at}" for at in range(120)]
    docs = {f"d{at}": f"{at} " + "x" * 400 for at in range(120)}
    truth = {
        query: [{"document": f"d{at}", "start": 100, "end": 200}]
        for at, query in enumerate(queries)
    }
    run = {query: [(f"d{at}", 0, 150 if at % 3 else 200)] for at, query in enumerate(queries)}
    # The model begins too late in each second document, and finds nothing in every tenth.
    model = {
        query: []
        if at % 10 == 0
        else [{"document": f"d{at}", "start": 150 if at % 2 else 100, "end": 200}]
        for at, query in enumerate(queries)
    }
    design = gf.judging.sample_queries(model, 60, seed=1)
    people = {query: truth[query] for query in design.queries}
    how = {"documents": docs, "offsets": "characters"}
    found = gf.judging.calibrate(
        people, model, {"mine": run}, "evidence_recall", design=design, **how
    )
    row = found["mine", "evidence_recall"]
    true = gf.evaluate(truth, run, "evidence_recall", **how)["evidence_recall"]
    assert abs(row.model.value - true) > 0.1
    assert row.estimate.low <= true <= row.estimate.high
    # The agreement is that of the model's passages, as a run, with people's.
    as_run = {query: model[query] for query in design.queries if model[query]}
    names = ["evidence_recall", "evidence_precision", "evidence_IoU"]
    scores = gf.evaluate(people, as_run, names, **how)
    assert found.agreement.queries == 60
    assert found.agreement.recall.value == pytest.approx(scores["evidence_recall"])
    assert found.agreement.iou.value == pytest.approx(scores["evidence_IoU"])
    assert found.agreement.precision.value == pytest.approx(1)
    assert found.agreement.recall.low < scores["evidence_recall"] < found.agreement.recall.high
    assert "the model's passages against people's, 60 queries: recall" in str(found)
    with pytest.raises(gf.errors.InputError, match="queries drawn at random, since evidence"):
        gf.judging.calibrate(
            people, model, {"mine": run}, "evidence_recall", drawn="documents", **how
        )


def test_agreement_counts_queries_without_passages():
    one = [{"document": "d", "start": 0, "end": 10}]
    people = {"a a": one, "b b": [], "c c": [], "d d": one}
    model = {"a a": one, "b b": one, "c c": [], "d d": [], **{f"{at}": one for at in range(9)}}
    run = {query: [("d", 0, 5)] for query in model}
    found = gf.judging.calibrate(
        people, model, {"r": run}, "evidence_recall", drawn="random", offsets="characters"
    ).agreement
    means = (found.recall.value, found.precision.value, found.iou.value)
    assert means == pytest.approx((1 / 2, 1 / 2, 1 / 3))
    assert (found.queries, found.neither) == (4, 1)


# --- nuggets


def listing(prompt):
    facts = ["vital: Leave is 25 days.", "okay: Ask early."] if "# Leave" in prompt else []
    facts += (
        ["okay: leave is  25 days.", "- vital: A night costs 80 €."] if "Book" in prompt else []
    )
    return "\n".join(facts)


def test_nuggets_are_listed_from_all_documents_of_a_query(tmp_path):
    found = gf.judging.collect_nuggets(PAIRS, listing, docs=DOCS)
    assert found.collected.calls == 2  # one for each query
    assert found[HOW_MUCH] == {"leave is 25 days.": "okay", "A night costs 80 €.": "vital"}
    assert found[HOW_MANY] == {
        "Leave is 25 days.": "vital", "Ask early.": "okay", "A night costs 80 €.": "vital",
    }  # fmt: skip
    found.write(tmp_path / "n.csv")
    for nuggets in (found, tmp_path / "n.csv"):
        support = gf.judging.collect_support(PAIRS, lambda _: "support", nuggets=nuggets, docs=DOCS)
        assert support.importance == {
            (query, fact): word for query, facts in found.items() for fact, word in facts.items()
        }
    apart = gf.judging.collect_nuggets(PAIRS, listing, docs=DOCS, per_prompt=1)
    assert apart.collected.calls == 3
    assert dict(apart) == dict(found)


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ('{"vital": ["a"], "okay": ["b"]}', {"a": "vital", "b": "okay"}),
        ("vital: none", None),
        ("Vital: a\nvital: a\nOkay: A", {"a": "vital"}),
        ("fact: a", None),
        ('["a"]', None),
    ],
)
def test_answers_with_facts(answer, facts):
    found = gf.judging.collect_nuggets({"a b": ["x"]}, lambda _: answer, docs={"x": "text"})
    assert found.get("a b") == facts
    assert len(found.collected.unread) == (facts is None and "none" not in answer)
