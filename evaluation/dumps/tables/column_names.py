"""Roles of columns, told by their names, in the languages in which tables come."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


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
