"""Roles of columns, told by their names, in the languages in which tables come."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class ColumnRole(StrEnum):
    """The content of a column."""

    PROMPT = "prompt"
    RESPONSE = "response"
    RESPONSES = "responses"
    SYSTEM = "system"
    CATEGORY = "category"
    REFERENCE = "reference"
    CONTEXT = "context"
    CONTEXT_SOURCE = "context_source"
    KEY = "key"
    SOURCE = "source"
    NEED = "information_need"
    CLARIFYING = "clarifying_question"
    CLARIFYING_SOURCE = "clarifying_source"
    DOCUMENT = "document"
    CLAIMS = "claims"
    ATTRIBUTES = "attributes"
    ARM = "arm"
    ROLE = "role"
    GOLD = "gold"
    GOLD_NOTE = "gold_note"
    WINNER = "winner"
    SCORE = "score"
    RANK = "rank"
    LABEL = "label"
    RATER = "rater"
    RATER_KIND = "rater_kind"
    REASON = "reason"
    SHOWN = "shown"
    JUDGED_AT = "judged_at"
    SECONDS = "seconds"
    IGNORED = "ignore"


def _words(name: str) -> list[str]:
    """Lower case without accents; camelCase, letters and digits, and everything between words separate."""
    spread = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[a-zA-Z])(?=[0-9])", " ", name)
    plain = unicodedata.normalize("NFKD", spread.casefold())
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    # Taking accents away would divide the letters of Korean.
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", letters)).split()


# Names as they are compared: in the spelling of `_words`.
NAMES: dict[ColumnRole, frozenset[str]] = {
    role: frozenset(" ".join(_words(name)) for name in names.split(", "))
    for role, names in {
        ColumnRole.PROMPT: (
            "prompt, query, question, instruction, input, request, message, problem, task, prompt text, user prompt, "
            "user query, user input, user message, user question, question text, original question, "
            "frage, anfrage, aufgabe, eingabe, fragestellung, nutzerfrage, nutzeranfrage, pregunta, consulta, "
            "instruccion, entrada, requete, consigne, invite, demande, domanda, richiesta, istruzione, pergunta, "
            "solicitacao, instrucao, vraag, opdracht, fraga, sporsmal, pytanie, soru, вопрос, запрос, 问题, 提示, "
            "提问, 質問, プロンプト, 질문, 프롬프트"
        ),
        ColumnRole.RESPONSE: (
            "response, answer, output, completion, reply, conversation, generation, prediction, candidate, "
            "generated text, generated answer, model output, model response, model answer, text, response text, "
            "answer text, antwort, ausgabe, erwiderung, reponse, sortie, respuesta, salida, risposta, uscita, "
            "resposta, saida, antwoord, uitvoer, svar, odpowiedz, yanit, ответ, 回答, 答案, 回复, 応答, 답변, 응답"
        ),
        ColumnRole.RESPONSES: (
            "responses, answers, outputs, completions, replies, generations, candidates, antworten, ausgaben, "
            "reponses, respuestas, risposte, respostas, antwoorden"
        ),
        ColumnRole.SYSTEM: (
            "system, model, llm, model name, model id, system name, source model, generator, engine, bot, assistant, "
            "modell, modellname, systeme, modele, modelo, sistema, modello, systeem, модель, 模型, モデル, 모델"
        ),
        ColumnRole.CATEGORY: (
            "category, topic, domain, type, subject, genre, tag, theme, task type, question type, area, kategorie, "
            "thema, bereich, themengebiet, fachgebiet, themenbereich, categorie, sujet, domaine, categoria, tema, "
            "dominio, argomento, assunto, onderwerp, kategori, категория, тема, 类别, 主题, カテゴリ, 카테고리, 주제"
        ),
        ColumnRole.REFERENCE: (
            "reference, references, gold, gold answer, gold response, ground truth, reference answer, "
            "reference response, reference text, target, expected, expected output, expected answer, ideal, "
            "ideal answer, correct answer, human answer, human response, human written, referenz, referenzantwort, "
            "musterantwort, musterlosung, reference humaine, referencia, riferimento, 参考答案, 参考, эталон"
        ),
        ColumnRole.CONTEXT: (
            "context, contexts, follow up, follow ups, followup, followups, follow up questions, qas, background, "
            "kontext, nachfragen, hintergrund, contexte, contexto, contesto, контекст, 上下文"
        ),
        ColumnRole.CONTEXT_SOURCE: (
            "context source, context model, context system, contexts by, follow up source, follow up model, "
            "follow ups by, kontextquelle, kontextmodell"
        ),
        ColumnRole.KEY: (
            "id, key, item, item id, prompt id, question id, query id, example id, instance id, qid, uid, uuid, idx, "
            "index, nr, no, number, nummer, kennung, numero, row, record, unnamed 0, index level 0, номер, 编号"
        ),
        ColumnRole.SOURCE: (
            "source, dataset, data set, data source, corpus, origin, quelle, datensatz, fuente, fonte, bron"
        ),
        ColumnRole.NEED: "information need, need, intent, facet, facet desc, user intent, informationsbedarf, absicht",
        ColumnRole.CLARIFYING: (
            "clarifying question, clarification question, clarification, asked back, ruckfrage, question asked back"
        ),
        ColumnRole.CLARIFYING_SOURCE: (
            "clarifying source, clarifying model, clarifying system, clarifying question by, "
            "clarifying question source, clarifying question model, clarifying question system, "
            "clarification source, clarification model, clarification by, asked back by, ruckfrage von, "
            "quelle der ruckfrage"
        ),
        ColumnRole.DOCUMENT: (
            "document, documents, docs, passage, passages, fragment, fragments, evidence, source documents, "
            "retrieved documents, dokument, dokumente, belege, documento, documentos"
        ),
        ColumnRole.ATTRIBUTES: "attributes, attribute, merkmale, merkmal",
        ColumnRole.ARM: "arm, setting, evaluation setting",
        ColumnRole.ROLE: "role, item role, item type, rolle",
        ColumnRole.GOLD: (
            "gold label, gold preference, gold choice, gold judgment, golden label, right response, right choice, "
            "correct response, correct label, correct choice, correct preference, expected label, expected preference"
        ),
        ColumnRole.GOLD_NOTE: "gold note, gold explanation, training note, training feedback",
        ColumnRole.IGNORED: (
            "winner, preference, preferred, label, score, rating, vote, votes, choice, annotator, annotator id, rater, "
            "judge, date, time, timestamp, created at, comment, comments, note, notes, split, language, lang, length, "
            "tokens, n tokens, url, justification, reason, gewinner, bewertung, bevorzugt, kommentar, datum, sprache, "
            "sieger, begrundung, gagnant, commentaire, ganador, comentario, fecha"
        ),
    }.items()
}
ROLES_BY_NAME = {name: role for role, names in NAMES.items() for name in names}
# Names of columns that hold judgments. They are looked at only where a column says what was judged, so that a table of
# items alone is read by the names above.
JUDGED_NAMES: dict[str, ColumnRole] = {
    " ".join(_words(name)): role
    for role, names in {
        ColumnRole.WINNER: (
            "winner, preference, preferred, preferred response, preferred answer, preferred model, better, "
            "better response, better answer, better model, best, best response, best answer, vote, choice, verdict, "
            "label, selected, selection, judgment, judgement, decision, human preference, human label, human vote, "
            "overall preference, gewinner, sieger, bevorzugt, besser, wahl, gagnant, ganador, vincitore, vencedor, "
            "preferencia, preferenza"
        ),
        ColumnRole.SCORE: (
            "score, rating, stars, grade, likert, overall score, overall rating, quality score, human score, "
            "human rating, bewertung, punkte, puntuacion, punteggio"
        ),
        ColumnRole.RANK: "rank, ranking, place, position, rang, platz",
        ColumnRole.RATER: (
            "rater, rater id, annotator, annotator id, annotator name, labeler, labeller, labeler id, judge, judge id, "
            "judge name, judge model, evaluator, evaluator id, evaluator name, evaluator model, autorater, grader, "
            "reviewer, assessor, worker, worker id, mturk worker id, participant, participant id, prolific pid, "
            "prolific id, user id, username, user name, email, e mail, annotator email, annotated by, "
            "completed by, coder, crowdworker, bewerter, gutachter, annotateur, anotador"
        ),
        ColumnRole.RATER_KIND: "rater kind, rater type, annotator kind, annotator type, judge type, evaluator type",
        ColumnRole.REASON: (
            "reason, reasons, reasoning, justification, explanation, rationale, why, comment, comments, feedback, "
            "critique, begrundung, kommentar, grund, commentaire, comentario, commento, motivo"
        ),
        ColumnRole.SHOWN: "shown, shown order, order shown, display order, presentation order, presented order",
        ColumnRole.JUDGED_AT: (
            "judged at, annotated at, submitted at, submit time, date, time, timestamp, tstamp, created at, "
            "completed at, updated at, datum, fecha"
        ),
        ColumnRole.SECONDS: (
            "seconds, duration s, duration seconds, duration in seconds, time taken, time spent, "
            "time on task, time taken in seconds, work time in seconds, lead time, annotation time"
        ),
    }.items()
    for name in names.split(", ")
}
# Words of names that ask which response is chosen, however they ask: "Which response is better?", "Dein Favorit".
CHOICE = re.compile(
    r"\b(?:prefer|favou?r|winn|wins?\b|better|best\b(?! practice)|cho(?:ice|se)|pick|vote|select|verdict|"
    r"besser|bevorzug|wahl|gewinn|sieg)"
)
# Words of names that ask for the other end: "least_preferred", "Which would you NOT choose?", "schlechtere Antwort".
WORSE = re.compile(
    r"\b(?:least|less\b|lesser|lower|lowest|fewer|fewest|worse|worst|weak|inferior|bottom|negativ|bad\b|badly|poor|"
    r"reject|avoid|exclud|wrong|incorrect|error|mistake|harm(?!less)|toxic|offensiv|los(?:e|es|er|ers|ing|s|t)\b|"
    r"not\b|non|no\b|never|neither|without|(?:do|does|did|would|should|could|is|was|ca|wo)n ?t\b|"
    r"un(?:prefer|favou?r|lik|select|chosen|pick|want|accept|safe)|dis(?:prefer|favou?r|lik|card|approv|miss|qualif)|"
    r"second (?:best|choice|pick)|runner up|schlecht|schlimm|schwach|nicht|kein|weniger|wenigst|abgelehn|verlier|"
    r"unterleg|falsch|fehler|slecht|minder\b|minst|peor|menos|rechaz|evit|pire|moins|rejet|pior|rejeit|peggio|meno\b|"
    r"scart|perd)"
)
# Words for a rater's word on an item.
ONE_VOTE = {"vote", "label", "judgment", "judgement", "verdict", "preference", "annotation"}
# Aspects of a response that people score.
ASPECTS = {
    *(
        "helpfulness",
        "correctness",
        "coherence",
        "fluency",
        "relevance",
        "consistency",
        "quality",
        "accuracy",
    ),
    *(
        "overall",
        "verbosity",
        "complexity",
        "harmlessness",
        "truthfulness",
        "honesty",
        "clarity",
        "completeness",
        "usefulness",
        "naturalness",
    ),
}
# The word of a platform's export before what was answered; words for raters that are no people, and before a response's
# own letter or name.
ANSWERED = "answer"
MODELS = {"model", "llm", "autorater"}
OF_RESPONSES = {"response", "answer", "output", "model", "system", "completion", "candidate"}
# Pairs of a data set of preferences.
PREFERENCES = ("chosen", "rejected")
SIDES = {
    "left",
    "right",
    "one",
    "two",
    "three",
    "four",
    "eins",
    "zwei",
    "drei",
    "links",
    "rechts",
    "first",
    "second",
}
# Between a response's word and whose it is: "Antwort von GPT-4".
SMALL_WORDS = {"of", "by", "from", "the", "von", "der", "des", "de", "du", "di", "del", "van", "by the"}


@dataclass(frozen=True)
class NameRole:
    """Reading of a column's name: the role, of which of several ("response_b": b), or whose ("GPT-4 answer": GPT-4)."""

    role: ColumnRole
    mark: str = ""
    whose: str = ""
    # Whether the name is nothing but the role's word, with its mark.
    is_whole: bool = True


def role_of_name(name: str) -> NameRole | None:
    """The role that the column's name tells, if it does."""
    words = _words(name)
    if not words:
        return None
    whole = " ".join(words)
    if whole in ROLES_BY_NAME:
        return NameRole(ROLES_BY_NAME[whole])
    if whole in PREFERENCES:
        return NameRole(ColumnRole.RESPONSE, whose=whole)
    for rest, mark in ((words[:-1], words[-1]), (words[1:], words[0])):
        found = ROLES_BY_NAME.get(" ".join(rest))
        if found and _is_mark(mark):
            return NameRole(found, mark=mark)
    return _containing(name, words)


def judged_by_name(name: str) -> ColumnRole | None:
    """The role in a judgment that the column's name tells."""
    words = _words(name)
    if words[:1] == [ANSWERED] and len(words) > 1:
        words = words[1:]
    plain = " ".join(words)
    return ColumnRole.SCORE if plain in ASPECTS else JUDGED_NAMES.get(plain)


def asks_for_a_choice(name: str) -> bool:
    """True for a name that asks in words of its own which response is chosen; its cells have to say so, too."""
    found = role_of_name(name)
    return (found is None or not found.is_whole) and bool(CHOICE.search(plain_name(name)))


def asks_for_the_worse(name: str) -> bool:
    """True for such a name that may ask which response is the worse, or not chosen."""
    found = role_of_name(name)
    return (found is None or not found.is_whole) and bool(WORSE.search(plain_name(name)))


def is_of_one_rater(name: str) -> bool:
    """True for the name of one of several columns of votes: "annotator_1", "judge b vote", "vote 2"."""
    words = _words(name)
    said = [word for word in words if not _is_mark(word)]
    who = [word for word in said if word not in ONE_VOTE]
    return len(said) < len(words) and (
        JUDGED_NAMES.get(" ".join(who)) == ColumnRole.RATER or bool(said and not who)
    )


def is_of_all_raters(name: str) -> bool:
    """True for a column of several votes by its name: "votes", "human_preferences". Labels and choices may be those
    that were offered."""
    *_, last = _words(name) or [""]
    return last.endswith("s") and last.removesuffix("s") in {*ONE_VOTE, "winner"} - {"label"}


def compared_by_name(name: str) -> str:
    """The aspect that a column of winners says that it is of, as in "relevance_winner"; '' of every other column."""
    words = _words(name)
    if " ".join(words) in JUDGED_NAMES:
        return ""
    for at in range(1, len(words)):
        for kept, rest in ((words[:at], words[at:]), (words[at:], words[:at])):
            aspect = " ".join(kept)
            if aspect in ASPECTS and JUDGED_NAMES.get(" ".join(rest)) == ColumnRole.WINNER:
                return aspect
    return ""


def may_be_judged(name: str) -> bool:
    """True for such a name, also of a score or rank that says whose it is."""
    words = _words(name)
    parts = [" ".join(part) for at in range(1, len(words)) for part in (words[:at], words[at:])]
    of_one = (ColumnRole.SCORE, ColumnRole.RANK)
    return judged_by_name(name) is not None or any(judged_by_name(part) in of_one for part in parts)


def is_of_models(name: str) -> bool:
    """True for the name of a column of raters that are no people."""
    return bool(MODELS & {*_words(name)})


def is_side(system: str) -> bool:
    """True for a name that is a letter, a number or a side: the place of a column, and no system."""
    return _is_mark(plain_name(system))


def split_whose(name: str, responses: Collection[str]) -> tuple[str, str]:
    """The name of a column of scores without the response that it tells, and that response ("score_b": score, b);
    `responses` are names as `plain_name` writes them."""
    words = _words(name)
    for at in range(1, len(words)):
        for rest, kept in ((words[at:], words[:at]), (words[:at], words[at:])):
            whose = " ".join(word for word in rest if word not in SMALL_WORDS | OF_RESPONSES)
            if whose in responses:
                return " ".join(kept), whose
    return " ".join(words), ""


# Cells that name systems are compared, too, row by row.
@lru_cache(4096)
def plain_name(name: str) -> str:
    """The name as names are compared."""
    return " ".join(_words(name))


def _containing(name: str, words: list[str]) -> NameRole | None:
    """A name with a known word in it: of a response the rest says whose it is."""
    for role in (ColumnRole.RESPONSE, ColumnRole.REFERENCE, ColumnRole.PROMPT, ColumnRole.CATEGORY):
        for word in words:
            if word not in NAMES[role]:
                continue
            if role != ColumnRole.RESPONSE:
                return NameRole(role, is_whole=False)
            # "text" alone is a response's; with other words it may be anything's.
            if word == "text":
                continue
            kept = [each for each in re.split(r"[\s_:/|()\[\]]+", name) if each and _is_whose(each, word)]
            return NameRole(role, whose=" ".join(kept), is_whole=False)
    return None


def _is_whose(part: str, word: str) -> bool:
    plain = _words(part)
    return word not in plain and " ".join(plain) not in SMALL_WORDS


def _is_mark(word: str) -> bool:
    return len(word) == 1 or word.isdigit() or word in SIDES
