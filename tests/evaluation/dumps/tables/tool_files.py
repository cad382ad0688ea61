"""Files of other tools, made small in the form of each, and what has to come of them."""

import csv
import io
import json
import zipfile
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ToolFile:
    """A tool's file: its key in maps, its content, and the figures that the documentation prints of it.

    `responses` and `judgments` are summed over its items. `first` is the first item: its prompt (or turns, by
    speaker), and its responses by system.
    """

    name: str
    tool: str
    raw: bytes
    rows: int
    prompts: int
    items: int
    responses: int
    judgments: int
    first: tuple[Any, dict[str, Any]]
    left_out: tuple[str, ...] = ()
    category: str = ""
    protocol: str = "pairwise"
    # A change that makes the file none of the tool's: a column or key to what it is called then.
    miss: dict[str, str] = field(default_factory=dict)


def lines(records: Any) -> bytes:
    return "\n".join(json.dumps(each) for each in records).encode()


def table(rows: Any) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def talk(*said: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[at % 2], "content": each} for at, each in enumerate(said)]


# --- Chatbot Arena ----------------------------------------------------------------------------------------------------
def vote(number: int, winner: str, a: Any, b: Any, **more: Any) -> dict[str, Any]:
    return {
        "question_id": f"a{number}", "model_a": "aspen", "model_b": "birch", "winner": winner, "judge": f"u{number}",
        "conversation_a": a, "conversation_b": b, "turn": 1, "anony": True, "language": "English",
        "tstamp": 1682351591.1322 + number, "toxic_chat_tag": {"t5": {"flagged": False}}, **more,
    }  # fmt: skip


ARENA = lines([
    vote(0, "model_a", talk("What is a quark?", "A part of matter."), talk("What is a quark?", "A cheese.")),
    vote(1, "tie (bothbad)", talk("Write a line on rain", "Rain on tin."), talk("Write a line on rain", "Soft rain.")),
    vote(2, "model_b", talk("Name a river", "The Oder.", "Another", "The Ruhr."),
         talk("Name a river", "The Elbe.", "Another", "The Main.")),
    vote(3, "tie", talk("Name a lake", "Como."), talk("Name a sea", "The Aral.")),
    vote(4, "tie", talk("Name a lake", "Como."), talk("Name a lake", "Garda."), model_b="aspen"),
])  # fmt: skip

# --- LMSYS, lists in JSON ---------------------------------------------------------------------------------------------
LMSYS = table([
    ["id", "model_a", "model_b", "prompt", "response_a", "response_b", "winner_model_a", "winner_model_b",
     "winner_tie"],
    ["30192", "aspen", "birch", '["Is it right?"]', '["It is."]', '["It is not."]', "1", "0", "0"],
    ["53567", "cedar", "birch", '["Name a tree", "Another"]', '["Oak \\ud83d", "Elm"]', '["Ash", null]', "0", "0", "1"],
    ["65089", "aspen", "birch", '["Hello"]', '["Hi", "there"]', '["Ho"]', "0", "1", "0"],
])  # fmt: skip

# --- MT-Bench ---------------------------------------------------------------------------------------------------------
BENCH_A = talk("Write a post on the sea.", "aspen writes.", "Again, each sentence with A.", "aspen again.")
BENCH_B = talk("Write a post on the sea.", "birch writes.", "Again, each sentence with A.", "birch again.")


def judged(winner: str, judge: Any, turn: int) -> dict[str, Any]:
    return {"question_id": 81, "model_a": "aspen", "model_b": "birch", "winner": winner, "judge": judge,
            "turn": turn, "conversation_a": BENCH_A, "conversation_b": BENCH_B}  # fmt: skip


MT_BENCH = lines([
    judged("model_b", "author_2", 1), judged("tie", "expert_17", 2), judged("model_a", "expert_9", 1),
    judged("tie (inconsistent)", ["gpt-4", "pair-v2"], 2),
])  # fmt: skip

# --- HelpSteer --------------------------------------------------------------------------------------------------------
HELPSTEER = lines([
    {"domain": "general", "language": "english", "context": talk("Plan a day in Ghent"),
     "response1": "Start at the castle.", "response2": "Ghent is a city.", "overall_preference": -2,
     "individual_preference": [
         {"score": -2, "reasoning": "One plans, two does not.", "feedback1": "Plans.", "feedback2": "No plan."},
         {"score": 0, "reasoning": "Neither is a plan.", "feedback1": "a", "feedback2": "b"}]},
    {"domain": "code", "language": "python", "context": talk("Sum a list", "sum(x)", "Without sum?"),
     "response1": "Use a loop.", "response2": "Use functools.reduce.", "overall_preference": 1,
     "individual_preference": [{"score": 1, "reasoning": "Shorter.", "feedback1": "a", "feedback2": "b"}]},
])  # fmt: skip

# --- Mechanical Turk --------------------------------------------------------------------------------------------------
BATCH = ["HITId", "HITTypeId", "Title", "Reward", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime",
         "WorkTimeInSeconds", "LifetimeApprovalRate", "Input.prompt", "Input.model_a", "Input.response_a",
         "Input.model_b", "Input.response_b"]  # fmt: skip
MINT = ["How do I dry mint?", "aspen", "Hang it upside down.", "birch", "Bake it slowly."]
BASIL = ["How do I store basil?", "aspen", "In a glass of water.", "birch", "In the fridge."]
SUBMITTED = "Thu Jan 02 10:01:00 PST 2025"


def assignment(hit: str, worker: str, status: str, item: list[str]) -> list[str]:
    return [hit, "3T", "Compare two answers", "$0.10", f"{hit}{worker}", worker, status, SUBMITTED, "60",
            "100% (3/3)", *item]  # fmt: skip


MTURK = table([
    [*BATCH, "Answer.preference", "Answer.reason", "Approve", "Reject"],
    [*assignment("3H1", "A1", "Approved", MINT), "A", "because", "", ""],
    [*assignment("3H1", "A2", "Approved", MINT), "B", "it dries", "", ""],
    [*assignment("3H1", "A3", "Rejected", MINT), "A", "x", "", ""],
    [*assignment("3H2", "A1", "Submitted", BASIL), "A", "because", "", ""],
    [*assignment("3H2", "A3", "Submitted", BASIL), "A", "x", "", "Too fast"],
])  # fmt: skip
MTURK_BOXES = table([
    [*BATCH, "Answer.better.A", "Answer.better.B"],
    [*assignment("3H1", "A1", "Approved", MINT), "true", "false"],
    [*assignment("3H2", "A1", "Approved", BASIL), "false", "true"],
])  # fmt: skip
MTURK_CROWD = table([
    [*BATCH, "Answer.taskAnswers"],
    [*assignment("3H1", "A1", "Approved", MINT), '[{"better": {"A": true, "B": false}, "why": "It dries."}]'],
    [*assignment("3H2", "A2", "Rejected", BASIL), '[{"better": {"A": false, "B": true}, "why": "x"}]'],
])  # fmt: skip


# --- Label Studio -----------------------------------------------------------------------------------------------------
def annotation(by: Any, *results: dict[str, Any], cancelled: bool = False) -> dict[str, Any]:
    return {"id": 5, "completed_by": by, "result": [*results], "was_cancelled": cancelled, "ground_truth": False,
            "created_at": "2025-01-02T10:00:00Z", "lead_time": 12.4, "task": 11, "project": 3}  # fmt: skip


def pairwise(selected: str, to: str = "answer1") -> dict[str, Any]:
    return {"id": "a1", "type": "pairwise", "value": {"selected": selected}, "to_name": to, "from_name": "pw"}


def note(text: str) -> dict[str, Any]:
    return {
        "id": "a2",
        "type": "textarea",
        "value": {"text": [text]},
        "to_name": "prompt",
        "from_name": "why",
    }


def labelled(number: int, data: Any, *annotations: Any) -> dict[str, Any]:
    return {"id": number, "annotations": [*annotations], "file_upload": "x.json", "drafts": [], "predictions": [],
            "data": data, "meta": {}, "created_at": "2025-01-02T09:00:00Z", "inner_id": number, "project": 3,
            "total_annotations": len(annotations), "updated_by": 1, "comment_authors": []}  # fmt: skip


TASKS = [
    {"prompt": "How do I store basil?", "answer1": "In a glass of water.", "answer2": "In the fridge."},
    {"prompt": "How do I dry mint?", "answer1": "Hang it upside down.", "answer2": "Bake it slowly."},
]
ONE = {"id": 1, "email": "one@example.org", "first_name": "", "last_name": ""}
TWO = {"email": "two@example.org"}
LABEL_STUDIO = json.dumps([
    labelled(11, TASKS[0], annotation(ONE, pairwise("left"), note("It keeps.")),
             annotation(TWO, pairwise("left", "answer2,answer1"))),
    labelled(12, TASKS[1], annotation(2, cancelled=True)),
]).encode()  # fmt: skip

# --- Qualtrics --------------------------------------------------------------------------------------------------------
SURVEY = ["StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished",
          "RecordedDate", "ResponseId", "RecipientLastName", "RecipientEmail", "LocationLatitude",
          "DistributionChannel", "UserLanguage"]  # fmt: skip


def answered(number: int, status: str, finished: str, *said: str) -> list[str]:
    return ["2025-01-02 10:00:00", "2025-01-02 10:01:00", status, "192.0.2.7", "100", "60", finished,
            "2025-01-02 10:01:00", f"R_{number}", "Doe", "doe@example.org", "48.1", "anonymous", "EN",
            *said]  # fmt: skip


QUALTRICS = table([
    [*SURVEY, "prompt", "response_a", "response_b", "Q1", "Q2"],
    [*SURVEY, "prompt", "response_a", "response_b", "Which answer is better?", "Why do you think so?"],
    [json.dumps({"ImportId": name}) for name in (*SURVEY, "prompt", "response_a", "response_b", "QID1", "QID2_TEXT")],
    answered(1, "IP Address", "True", *MINT[::2], "Response A", "It says how."),
    answered(2, "IP Address", "True", *MINT[::2], "Response B", "It is shorter."),
    answered(3, "Survey Preview", "True", *MINT[::2], "Response B", "test"),
    answered(4, "IP Address", "False", *BASIL[::2], "", ""),
    answered(5, "IP Address", "True", *BASIL[::2], "Response B", "It is cold."),
])  # fmt: skip


# --- summarize-from-feedback ------------------------------------------------------------------------------------------
def summarized(choice: int, worker: str) -> dict[str, Any]:
    return {"info": {"id": "t3", "post": "I lost my keys twice.", "title": "Keys", "subreddit": "advice"},
            "summaries": [{"text": "Keys lost.", "policy": "sup1", "note": "Short."},
                          {"text": "Lost keys, twice.", "policy": "ppo2", "note": None}],
            "choice": choice, "worker": worker, "batch": "b1", "split": "valid1",
            "extra": {"confidence": 7}}  # fmt: skip


SUMMARIES = lines([summarized(1, "w1"), summarized(0, "w2")])

# --- Anthropic's HH ---------------------------------------------------------------------------------------------------
HH = lines([
    {"chosen": "\n\nHuman: Name a river\n\nAssistant: The Oder.",
     "rejected": "\n\nHuman: Name a river\n\nAssistant: No."},
    {"chosen": "\n\nHuman: Hi\n\nAssistant: Hello.\n\nHuman: Who?\n\nAssistant: A model.",
     "rejected": "\n\nHuman: Hi\n\nAssistant: Hello.\n\nHuman: Who?\n\nAssistant: Me."},
    {"chosen": "\n\nHuman: Hi\n\nAssistant: Hello.\n\nHuman: Who?\n\nAssistant: A model.",
     "rejected": "\n\nHuman: Hi\n\nAssistant: Ho.\n\nHuman: Who?\n\nAssistant: Me."},
])  # fmt: skip


# --- promptfoo --------------------------------------------------------------------------------------------------------
def tested(prompt: str, provider: str, output: str | None, score: float) -> dict[str, Any]:
    return {"id": "r", "prompt": {"raw": prompt, "label": "{{q}}"}, "promptIdx": 0, "testIdx": 0,
            "provider": {"id": f"openai:{provider}", "label": provider}, "vars": {"q": prompt},
            "response": {} if output is None else {"output": output, "tokenUsage": {"total": 9}},
            "success": score > 0.5, "score": score, "latencyMs": 812, "namedScores": {},
            "gradingResult": {"pass": score > 0.5, "score": score, "reason": "Assertion passed"}}  # fmt: skip


PROMPTFOO = json.dumps({
    "evalId": "eval-1", "config": {"providers": ["a"]},
    "results": {"version": 3, "timestamp": "2025-01-02T10:00:00Z", "stats": {"successes": 2},
                "prompts": [{"raw": "{{q}}", "label": "{{q}}"}, {"raw": "{{q}}", "label": "{{q}}"}],
                "results": [tested("Name a river", "aspen", "The Oder.", 1), tested("Name a river", "birch", "No.", 0),
                            tested("Name a lake", "aspen", "Como.", 1), tested("Name a lake", "birch", "Garda.", 1),
                            tested("Name a sea", "aspen", None, 0), tested("Name a lake", "aspen", "Isar.", 1)]},
}).encode()  # fmt: skip


# --- Inspect ----------------------------------------------------------------------------------------------------------
def sample(number: int, asked: Any, said: str | None, grade: Any) -> dict[str, Any]:
    choices = (
        [] if said is None else [{"message": {"role": "assistant", "content": said}, "stop_reason": "stop"}]
    )
    return {"id": number, "epoch": 1, "input": asked, "target": "The Oder.", "messages": talk("Name a river"),
            "output": {"model": "lab/aspen", "choices": choices, "usage": {"total_tokens": 9}},
            "scores": {"match": {"value": grade, "answer": said, "explanation": "As expected."}}}  # fmt: skip


INSPECT = json.dumps({
    "version": 2, "status": "success", "eval": {"task": "rivers", "model": "lab/aspen"}, "stats": {},
    "samples": [sample(1, "Name a river", "The Oder.", "C"), sample(2, talk("Hi", "Hello.", "A river?"), "No.", "I"),
                sample(3, "Name a lake", None, "N")],
    "reductions": [{"scorer": "match", "samples": [{"value": 1.0, "sample_id": 1}]}],
}).encode()  # fmt: skip


def packed(log: dict[str, Any]) -> bytes:
    """The same log as Inspect writes it by default: a ZIP with each sample in a file of its own."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"]}))
        for each in log["samples"]:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        archive.writestr("summaries.json", json.dumps([{"id": each["id"]} for each in log["samples"]]))
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": log["eval"]}))
    return out.getvalue()


INSPECT_EVAL = packed(json.loads(INSPECT))

# --- Argilla ----------------------------------------------------------------------------------------------------------
ARGILLA = lines([
    {"id": "r1", "status": "completed", "_server_id": "8f14e45f-ceea-467f-a8f2-1d3f4e5a6b7c", **TASKS[0],
     "preference.responses": ["answer1", "answer2"], "preference.responses.users": ["u1", "u2"],
     "preference.responses.status": ["submitted", "submitted"], "preference.suggestion": None},
    {"id": "r2", "status": "pending", "_server_id": "8f14e45f-ceea-467f-a8f2-1d3f4e5a6b7d", **TASKS[1],
     "preference.responses": ["answer1"], "preference.responses.users": ["u1"],
     "preference.responses.status": ["draft"], "preference.suggestion": None},
])  # fmt: skip

# --- WMT --------------------------------------------------------------------------------------------------------------
MQM = table([
    ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity", "comment"],
    ["aspen", "talk.1", "1", "1", "rater1", "The Sun burns.", "Die <v>Sonne</v> brannte.", "Accuracy/Other", "Major",
     ""],
    ["aspen", "talk.1", "1", "1", "rater1", "The Sun burns.", "Die Sonne brannte<v>.</v>", "Fluency/Punctuation",
     "Minor", ""],
    ["aspen", "talk.1", "1", "1", "rater2", "The Sun burns.", "Die Sonne brannte.", "No-error", "No-error", ""],
    ["birch", "talk.1", "1", "1", "rater1", "The Sun burns.", "<v>Sie</v> brennt.", "Style/Awkward", "Minor", ""],
    ["birch", "talk.1", "1", "1", "rater2", "The Sun burns.", "<v>Sie brennt.</v>", "Non-translation!", "Major", ""],
])  # fmt: skip

MINTS = {"aspen": "Hang it upside down.", "birch": "Bake it slowly."}
# --- HelpSteer2 -------------------------------------------------------------------------------------------------------
RATINGS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")


def graded(prompt: str, response: str, *ratings: int) -> dict[str, Any]:
    return {"prompt": prompt, "response": response, **dict(zip(RATINGS, ratings, strict=True))}


HELPSTEER2 = lines([
    graded("Name a river", "The Oder.", 4, 4, 4, 1, 0), graded("Name a river", "A lake.", 0, 0, 3, 0, 1),
    graded("Name a lake", "Como.", 3, 4, 4, 1, 1), graded("Name a lake", "Como.", 3, 4, 4, 1, 1),
])  # fmt: skip

# --- WMT, direct assessments ------------------------------------------------------------------------------------------
DA = table([
    ["lp", "src", "mt", "ref", "score", "raw", "annotators", "domain", "year"],
    ["en-de", "The Sun burns.", "Die Sonne brennt.", "Die Sonne glüht.", "0.91", "93.5", "2", "news", "2020"],
    ["en-de", "The Sun burns.", "Sie brennt.", "Die Sonne glüht.", "-0.4", "61", "1", "news", "2020"],
    ["en-de", "The Sun burns.", "Sie brennt.", "Die Sonne glüht.", "-0.4", "61", "1", "news", "2020"],
    ["en-de", "It rains.", "Es regnet.", "Es regnet.", "1.1", "", "1", "news", "2020"],
])  # fmt: skip


# --- summarize-from-feedback, axes ------------------------------------------------------------------------------------
def rated(policy: str, text: str, worker: str, **axes: int | None) -> dict[str, Any]:
    return {"info": {"id": "t3_1", "post": "I lost my keys twice.", "title": "Keys", "subreddit": "advice"},
            "summary": {"text": text, "policy": policy, "note": "Short.", "axes": axes},
            "worker": worker, "batch": "batch1", "split": "valid1"}  # fmt: skip


AXES = lines([
    rated("sup1", "Keys lost.", "w1", overall=5, accuracy=7, coverage=4, coherence=6),
    rated("ppo2", "Lost keys, twice.", "w1", overall=6, accuracy=7, coverage=6, coherence=7),
    rated("sup1", "Keys lost.", "w2", overall=4, accuracy=6, coverage=4, coherence=5),
    rated("ref", "Help!", "w2", overall=None, accuracy=None, coverage=None, coherence=None),
])  # fmt: skip

# --- promptfoo as CSV -------------------------------------------------------------------------------------------------
GRADES = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"]
PROMPTFOO_TABLE = table([
    ["what", "[openai:aspen] Name a {{what}}", *GRADES, "[openai:birch] Name a {{what}}", *GRADES],
    ["river", "The Oder.", "PASS", "1.00", "", "It is one.", "", "No.", "FAIL", "0.00", "", "It is none.", ""],
    ["lake", "Como.", "PASS", "1.00", "", "It is one.", "", "", "ERROR", "0.00", "", "Timed out.", ""],
])  # fmt: skip

# --- Label Studio as a table ------------------------------------------------------------------------------------------
LABEL_STUDIO_MIN = json.dumps([
    {"id": 1, **TASKS[0], "better": {"selected": "left"}, "why": "Fresher.", "annotator": 3, "annotation_id": 11,
     "created_at": "2025-01-02T10:00:00Z", "updated_at": "2025-01-02T10:01:00Z", "lead_time": 12.5},
    {"id": 1, **TASKS[0], "better": {"selected": "right"}, "why": "Colder.", "annotator": 4, "annotation_id": 12,
     "created_at": "2025-01-02T10:00:00Z", "updated_at": "2025-01-02T10:01:00Z", "lead_time": 8.5},
    {"id": 2, **TASKS[1], "annotator": 3, "annotation_id": 13,
     "created_at": "2025-01-02T10:00:00Z", "updated_at": "2025-01-02T10:01:00Z", "lead_time": 1.5},
]).encode()  # fmt: skip
LABEL_STUDIO_CSV = table([
    ["annotation_id", "annotator", *TASKS[0], "created_at", "id", "lead_time", "preference", "updated_at"],
    ["11", "3", *TASKS[0].values(), "2025-01-02T10:00:00Z", "1", "12.5", "answer1", "2025-01-02T10:01:00Z"],
    ["12", "4", *TASKS[0].values(), "2025-01-02T10:00:00Z", "1", "8.5", "answer2", "2025-01-02T10:01:00Z"],
    ["13", "3", *TASKS[1].values(), "2025-01-02T10:00:00Z", "2", "1.5", "answer1", "2025-01-02T10:01:00Z"],
])  # fmt: skip


# --- Potato -----------------------------------------------------------------------------------------------------------
def potato(key: str, user: str, shown: str, **labels: Any) -> dict[str, Any]:
    return {
        "user_id": user, "instance_id": key, "displayed_text": shown, "label_annotations": labels,
        "span_annotations": [], "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 21s "},
    }  # fmt: skip


POTATO_MINT, POTATO_BASIL = (f"A. How do I {what}?<br>B. {one}<br>C. {other}"
               for what, one, other in (("dry mint", "Hang it.<br>Or not.", "Bake it."),
                                        ("store basil", "In a glass.", "In the fridge.")))  # fmt: skip
POTATO = lines([
    potato("i1", "ada@example.org", POTATO_MINT, preference={"B": "1"}, why={"text_box": "It keeps the scent."}),
    potato("i1", "bob@example.org", POTATO_MINT, preference={"C": "2"}),
    potato("i1", "cyd@example.org", POTATO_MINT),
    potato("i2", "ada@example.org", POTATO_BASIL, preference={"equal": "3"}),
    potato("i3", "bob@example.org", POTATO_BASIL.replace("<br>C. ", " or "), preference={"B": "1"}),
])  # fmt: skip
POTATO_PAIRS = lines([
    potato("i1", "n1", "A. Hang it.<br>B. Bake it.", preference={"selection": "A"}),
    potato("i1", "n2", "A. Hang it.<br>B. Bake it.", preference={"selection": "tie"}),
    potato("i2", "n1", "A. In a glass.<br>B. In the fridge.", preference={"selection": "B"}),
])  # fmt: skip
SECTIONS = "".join(
    f'<div name="instance_text"> <legend> {name} </legend> {{}} <br/> </div>'
    for name in ("prompt", "response_a", "response_b")
)
POTATO_TABLE = table([
    ["user", "instance_id", "displayed_text", "preference:::response_a", "preference:::response_b", "note:::text_box"],
    ["n1", "i1", SECTIONS.format("How do I dry mint?", "Hang it.", "Bake it."), "1.0", "", ""],
    ["n2", "i1", SECTIONS.format("How do I dry mint?", "Hang it.", "Bake it."), "", "2.0", "Faster, I found."],
    ["n1", "i2", SECTIONS.format("How do I store basil?", "In a glass.", "In the fridge."), "", "", ""],
])  # fmt: skip
HEADED = "Question: {}<br>Response 1: {}<br>Response 2: {}"
POTATO_HEADED = lines([
    potato("i1", "n1", HEADED.format("How do I dry mint?", "Note: hang it.", "Bake it."), better={"scale_value": "-2"}),
    potato("i2", "n1", HEADED.format("How do I store basil?", "In a glass.", "In the fridge."),
           better={"scale_value": "0"}),
])  # fmt: skip

# --- a row with the votes of several raters ---------------------------------------------------------------------------
VOTES_BY_RATER = table([
    ("prompt", "response_a", "response_b", "annotator_1", "annotator_2", "annotator_3", "topic"),
    ("How do I dry mint?", "Hang it.", "Bake it.", "A", "B", "tie", "herbs"),
    ("Name a river", "The Oder.", "A lake.", "A", "", "A", "places"),
])  # fmt: skip
VOTES_IN_A_LIST = lines([
    {"prompt": "How do I dry mint?", "aspen answer": "Hang it.", "birch answer": "Bake it.", "votes": ["aspen", "tie"]},
    {"prompt": "Name a river", "aspen answer": "The Oder.", "birch answer": "A lake.", "votes": []},
])  # fmt: skip

FILES = [
    ToolFile("arena.jsonl", "chatbot_arena", ARENA, 5, 3, 3, 6, 3,
             ("What is a quark?", {"aspen": "A part of matter.", "birch": "A cheese."}),
             ("1 row left out: conversations that do not ask the same.", "1 row left out: a model against itself."),
             miss={"conversation_a": "transcript_a"}),
    ToolFile("lmsys.csv", "lmsys_pairs", LMSYS, 3, 2, 2, 4, 2,
             ("Is it right?", {"aspen": "It is.", "birch": "It is not."}),
             ("1 row left out: prompts and replies that are not lists of equal length.",), miss={"model_a": "m"}),
    ToolFile("mt-bench.jsonl", "mt_bench", MT_BENCH, 4, 2, 2, 4, 4,
             ("Write a post on the sea.", {"aspen": "aspen writes.", "birch": "birch writes."}),
             miss={"turn": "round"}),
    ToolFile("helpsteer.jsonl", "helpsteer", HELPSTEER, 2, 2, 2, 4, 3,
             ("Plan a day in Ghent", {"response1": "Start at the castle.", "response2": "Ghent is a city."}),
             category="general", miss={"individual_preference": "preferences"}),
    ToolFile("mturk.csv", "mturk", MTURK, 5, 2, 2, 4, 3, ("How do I dry mint?", MINTS),
             ("2 judgments left out: assignments that were rejected.",), miss={"HITId": "Hit"}),
    ToolFile("mturk-boxes.csv", "mturk", MTURK_BOXES, 2, 2, 2, 4, 2, ("How do I dry mint?", MINTS),
             miss={"WorkerId": "Who"}),
    ToolFile("mturk-crowd.csv", "mturk", MTURK_CROWD, 2, 2, 2, 4, 1, ("How do I dry mint?", MINTS),
             ("1 judgment left out: assignments that were rejected.",), miss={"Input.": "In."}),
    ToolFile("label-studio.json", "label_studio", LABEL_STUDIO, 2, 2, 2, 4, 2,
             ("How do I store basil?", {"1": "In a glass of water.", "2": "In the fridge."}),
             ("1 judgment left out: annotations that were cancelled.",), miss={"result": "outcome"}),
    ToolFile("qualtrics.csv", "qualtrics", QUALTRICS, 5, 2, 2, 4, 3,
             ("How do I dry mint?", {"A": "Hang it upside down.", "B": "Bake it slowly."}),
             ("1 row left out: previews, tests and spam.", "1 row left out: responses that were not finished."),
             miss={"ResponseId": "Response"}),
    ToolFile("summaries.jsonl", "summarize_from_feedback", SUMMARIES, 2, 1, 1, 2, 2,
             ("Keys\n\nI lost my keys twice.", {"sup1": "Keys lost.", "ppo2": "Lost keys, twice."}),
             category="advice", miss={"policy": "model"}),
    ToolFile("hh.jsonl", "anthropic_hh", HH, 3, 2, 2, 4, 2,
             ("Name a river", {"chosen": "The Oder.", "rejected": "No."}),
             ("1 row left out: transcripts that differ before their last reply.",), miss={"Human:": "Person:"}),
    ToolFile("promptfoo.json", "promptfoo", PROMPTFOO, 6, 2, 2, 4, 2,
             ("Name a river", {"aspen": "The Oder.", "birch": "No."}),
             ("1 row left out: tests without an output.",
              "1 row left out: a second output of the same provider to the same prompt."),
             protocol="custom", miss={'"raw"': '"text"'}),
    ToolFile("inspect.json", "inspect", INSPECT, 3, 2, 2, 2, 2, ("Name a river", {"lab/aspen": "The Oder."}),
             ("1 row left out: samples without an output.",), protocol="custom", miss={'"epoch"': '"round"'}),
    ToolFile("argilla.jsonl", "argilla", ARGILLA, 2, 2, 2, 4, 2,
             ("How do I store basil?", {"1": "In a glass of water.", "2": "In the fridge."}),
             ("1 judgment left out: answers that were not submitted.",), miss={".responses.users": ".by"}),
    ToolFile("mqm.csv", "wmt_mqm", MQM, 5, 1, 1, 2, 2,
             ("The Sun burns.", {"aspen": "Die Sonne brannte.", "birch": "Sie brennt."}), protocol="custom",
             miss={"severity": "weight"}),
    ToolFile("inspect.eval", "inspect", INSPECT_EVAL, 3, 2, 2, 2, 2, ("Name a river", {"lab/aspen": "The Oder."}),
             ("1 row left out: samples without an output.",), protocol="custom"),
    ToolFile("helpsteer2.jsonl", "helpsteer2", HELPSTEER2, 4, 2, 2, 3, 2,
             ("Name a river", {"response 1": "The Oder.", "response 2": "A lake."}),
             ("1 row left out: a second copy of a response.",), protocol="custom", miss={"verbosity": "length"}),
    ToolFile("direct-assessment.csv", "wmt_da", DA, 4, 1, 1, 2, 1,
             ("The Sun burns.", {"translation 1": "Die Sonne brennt.", "translation 2": "Sie brennt."}),
             ("1 row left out: a translation that stands there before.",
              "1 row left out: translations without a score."),
             category="en-de", protocol="custom", miss={"annotators": "who"}),
    ToolFile("axes.jsonl", "summary_axes", AXES, 4, 1, 1, 2, 2,
             ("Keys\n\nI lost my keys twice.", {"sup1": "Keys lost.", "ppo2": "Lost keys, twice."}),
             ("1 row left out: summaries without a policy or a rating.",), category="advice", protocol="custom",
             miss={"axes": "ratings"}),
    ToolFile("promptfoo.csv", "promptfoo_table", PROMPTFOO_TABLE, 2, 2, 2, 3, 2,
             ("Name a river", {"openai:aspen": "The Oder.", "openai:birch": "No."}),
             ("1 output left out: tests without an output.",), protocol="custom", miss={"Status": "Result"}),
    ToolFile("label-studio-min.json", "label_studio_table", LABEL_STUDIO_MIN, 3, 2, 2, 4, 2,
             ("How do I store basil?", {"1": "In a glass of water.", "2": "In the fridge."}),
             ("1 judgment left out: annotations without an answer that can be read.",), miss={"lead_time": "took"}),
    ToolFile("label-studio.csv", "label_studio_table", LABEL_STUDIO_CSV, 3, 2, 2, 4, 3,
             ("How do I store basil?", {"1": "In a glass of water.", "2": "In the fridge."}),
             miss={"annotation_id": "annotation"}),
    ToolFile("potato.jsonl", "potato", POTATO, 5, 2, 2, 4, 3,
             ("How do I dry mint?", {"B": "Hang it.<br>Or not.", "C": "Bake it."}),
             ("1 judgment left out: annotations without an answer that can be read.",
              "1 row left out: texts that are not divided as the others are."), miss={"displayed_text": "text"}),
    ToolFile("potato.csv", "potato", POTATO_TABLE, 3, 2, 2, 4, 2,
             ("How do I dry mint?", {"A": "Hang it.", "B": "Bake it."}),
             ("1 judgment left out: annotations without an answer that can be read.",), miss={":::": " of "}),
    ToolFile("potato-headed.jsonl", "potato", POTATO_HEADED, 2, 2, 2, 4, 2,
             ("How do I dry mint?", {"1": "Note: hang it.", "2": "Bake it."}), miss={"label_annotations": "labels"}),
    ToolFile("votes-by-rater.csv", "votes_by_rater", VOTES_BY_RATER, 2, 2, 2, 4, 5,
             ("How do I dry mint?", {"A": "Hang it.", "B": "Bake it."}), category="herbs",
             miss={"annotator_": "slot "}),
    ToolFile("votes-list.jsonl", "votes_by_rater", VOTES_IN_A_LIST, 2, 2, 2, 4, 2,
             ("How do I dry mint?", {"aspen": "Hang it.", "birch": "Bake it."}), miss={"votes": "marks"}),
]  # fmt: skip
