"""A study of clarifying questions and answers with a corpus to search."""

import json

from django.core.management import call_command

from evaluation.models import Study

CORPUS = {
    "d1": "The zoo of Ulm opens at nine.",
    "d2": "Bridges of Ulm for cars.",
    "d3": "The footbridge of Ulm was opened in 1894.",
    "d4": "Soup of the day.",
}
QRELS = "t1 0 d3 2\nt1 0 d2 1\nt1 0 d1 0\nt2 0 d4 1\n"
RUN = "t1 Q0 d3 1 9.5 other\nt1 Q0 d2 2 8.0 other\nt2 Q0 d1 1 3 other\nt2 Q0 d4 2 2 other\n"


def item(topic, text, question, *answers, source=""):
    return {
        "key": f"{topic}-{source}" if source else topic, "arm": "all",
        "query": {"key": topic, "text": text, "information_need": "To know."},
        "clarifying_question": question, **({"clarifying_source": source} if source else {}),
        "responses": [
            {"system": system, "text": answer, **({"key": f"{system}-{source}"} if source else {})}
            for system, answer in zip(("ant", "bee"), answers, strict=True)
        ],
    }  # fmt: skip


TWO = (
    item("t1", "When was it opened in Ulm?", "Which one?", "the footbridge", "the zoo, which opens at nine"),
    item("t2", "What is there?", "To do what?", "soup of the day", "soup"),
)
# The same queries, with the questions of two askers.
ASKED_BY_TWO = (
    item("t1", "When was it opened in Ulm?", "Which one?", "the footbridge", "the zoo", source="human"),
    item("t2", "What is there?", "To do what?", "soup of the day", "soup", source="human"),
    item("t1", "When was it opened in Ulm?", "A footbridge?", "yes", "no, the zoo", source="facet-oak"),
    item("t2", "What is there?", "In Ulm?", "soup of the day", "bridges", source="facet-oak"),
)


def retrieval_study(folder, status="draft", items=TWO):
    """A study of answer pairs, whose documents, relevance and another system's run stand in the folder."""
    lines = [json.dumps({"id": id, "text": text}) for id, text in CORPUS.items()]
    (folder / "ulm.jsonl").write_text("\n".join(lines))
    (folder / "ulm.qrels").write_text(QRELS)
    (folder / "other.run").write_text(RUN)
    arm = {"key": "all", "label": "All", "context_at_generation": False, "context_at_judging": False}
    header = {"assay": 1, "spec": {"protocol": "answer_pairs", "arms": [arm]}, "status": status}
    file = folder / "study.jsonl"
    file.write_text("\n".join(map(json.dumps, [header, *items])))
    call_command("import_study", str(file), slug="ulm", verbosity=0)
    return Study.objects.get(slug="ulm")
