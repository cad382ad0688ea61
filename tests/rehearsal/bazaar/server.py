"""The bazaar itself: its stalls, its people, and its API, which is unlike any other.

A stall is a study, a ticket a submission, a tip a bonus. Lists come two at a time with a word for the rest, amounts are
whole coins, who is asked to wait gets status 420, and news is sealed with a hex digest.
"""

import hashlib
import hmac
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

AT_A_TIME = 2
# Servers by their address, in place of a network.
SERVERS = {}


@dataclass
class Bazaar:
    key: str = "a-key-to-the-bazaar"
    seal: str = "a-seal-of-the-bazaar"
    stalls: dict = field(default_factory=dict)
    tickets: dict = field(default_factory=dict)
    purses: dict = field(default_factory=dict)
    # Tips that were paid, in order: (ticket, coins). A purse paid twice is here twice.
    tipped: list = field(default_factory=list)
    runners: list = field(default_factory=list)
    news: list = field(default_factory=list)
    asked: list = field(default_factory=list)
    # The next requests to a path fail so: "busy", "lost" (done, and no answer), "no" (refused).
    faults: list = field(default_factory=list)
    numbers: count = field(default_factory=lambda: count(1))

    # --- its people ---

    def buy(self, stall, person):
        """Somebody takes a seat; the ticket, and the address they are sent to."""
        there = self.stalls[stall]
        assert there["state"] == "open", there["state"]
        ticket = f"ticket-{next(self.numbers)}"
        self.tickets[ticket] = {
            "ticket": ticket, "stall": stall, "person": person, "state": "inside", "word": "", "begun": _now(),
            "done": None, "asked_back": None, "note": "", "tips": [],
        }  # fmt: skip
        self._tell(ticket)
        address = there["link"]
        for name, value in (("WHO", person), ("STALL", stall), ("TICKET", ticket)):
            address = address.replace(f"<{name}>", value)
        return ticket, address

    def hand_in(self, ticket, word):
        """The person comes back with a code."""
        one = self.tickets[ticket]
        one |= {"word": word, "done": _now()}
        if self.stalls[one["stall"]]["words"][word]["ask_back"]:
            one["asked_back"] = _now()
        self.become(ticket, "handed_in")

    def become(self, ticket, state):
        self.tickets[ticket]["state"] = state
        self._tell(ticket)

    def _tell(self, ticket):
        one = self.tickets[ticket]
        self.news.append(
            {"number": next(self.numbers), "about": "ticket", "stall": one["stall"], "ticket": ticket,
             "person": one["person"], "now": one["state"], "at": _now()}
        )  # fmt: skip

    def deliver(self, client, news, *, seal=None):
        """Bring a piece of news to whoever has a runner; the statuses of the answers."""
        raw = json.dumps({**news, "sealed_at": _now()}).encode()
        signed = hmac.new((seal or self.seal).encode(), raw, hashlib.sha256).hexdigest()
        headers = {"Bazaar-Seal": signed}
        return [
            client.post(
                target.removeprefix("https://assay.example.org"),
                raw,
                content_type="application/json",
                headers=headers,
            ).status_code
            for target in self.runners
        ]

    # --- its API ---

    def answer(self, method, path, body, key):
        """Status and JSON; or nothing, of a line that broke after it was done."""
        self.asked.append((method, path, body))
        if key != self.key:
            return 401, {"no": "That key opens nothing here."}
        fault = self._next_fault(method, path)
        if fault == "busy":
            return 420, {"no": "The gate is crowded.", "come_back": 7}
        if fault == "no":
            return 409, {"no": "Not today."}
        for known, pattern, act in ROUTES:
            if known == method and (found := re.fullmatch(pattern, path)):
                try:
                    said = act(self, *found.groups(), body=body)
                except KeyError:
                    return 404, {"no": "There is no such thing."}
                except ValueError as wrong:
                    return 409, {"no": str(wrong)}
                return None if fault == "lost" else (200, said)
        return 404, {"no": "There is no such gate."}

    def fail(self, method, pattern, fault):
        self.faults.append((method, pattern, fault))

    def _next_fault(self, method, path):
        for each in self.faults:
            if each[0] == method and re.search(each[1], path):
                self.faults.remove(each)
                return each[2]
        return ""

    def all_stalls(self, body):
        return _page(list(self.stalls.values()), body)

    def build(self, body):
        stall = f"stall-{next(self.numbers)}"
        self.stalls[stall] = {**body, "stall": stall, "state": "packed"}
        return self.stalls[stall]

    def rebuild(self, stall, body):
        there = self.stalls[stall]
        if there["state"] != "packed" and set(body) != {"seats"}:
            raise ValueError("An open stall stays as it is.")
        if body.get("seats", there["seats"]) < there["seats"]:
            raise ValueError("Nobody carries seats away.")
        there |= body
        return there

    def move(self, stall, verb, body):
        states = {"open": ("packed", "shut"), "shut": ("open",)}
        if self.stalls[stall]["state"] not in states[verb]:
            raise ValueError(f"It is {self.stalls[stall]['state']}.")
        self.stalls[stall]["state"] = verb
        told = {"number": next(self.numbers), "about": "stall", "stall": stall, "now": verb, "at": _now()}
        self.news.append(told)
        return self.stalls[stall]

    def tickets_of(self, stall, body):
        found = [each for each in self.tickets.values() if each["stall"] == stall]
        return _page([{**each, "tips": None} for each in found], body)

    def decide(self, ticket, verb, body):
        one = self.tickets[ticket]
        if one["state"] != "handed_in":
            raise ValueError(f"It is {one['state']}.")
        one["note"] = body.get("note", "")
        self.become(ticket, {"pay": "paid", "throw_out": "thrown_out"}[verb])
        return one

    def ask_back(self, ticket, body):
        self.tickets[ticket] |= {"asked_back": _now(), "note": body["note"]}
        return {}

    def fill_purse(self, stall, body):
        if len(body["tips"]) > AT_A_TIME:
            raise ValueError("A purse holds two tips.")
        if any(self.tickets[each["ticket"]]["state"] == "left" for each in body["tips"]):
            raise ValueError("Who has left is not tipped.")
        purse = f"purse-{next(self.numbers)}"
        self.purses[purse] = [(each["ticket"], each["coins"]) for each in body["tips"]]
        return {"purse": purse, "coins": sum(coins for _, coins in self.purses[purse])}

    def pay_purse(self, purse, body):
        self.tipped += self.purses[purse]
        for ticket, coins in self.purses[purse]:
            self.tickets[ticket]["tips"].append(coins)
        return {}

    def new_seal(self, body):
        self.seal = f"seal-{next(self.numbers)}-of-{body['quarter']}"
        return {"seal": self.seal}

    def send_runner(self, body):
        is_new = body["to"] not in self.runners
        self.runners += [body["to"]] if is_new else []
        return {"new": is_new}


ROUTES = (
    ("GET", "/stalls", Bazaar.all_stalls),
    ("POST", "/stalls", Bazaar.build),
    ("GET", "/stalls/([^/]+)", lambda self, stall, body: self.stalls[stall]),
    ("PUT", "/stalls/([^/]+)", Bazaar.rebuild),
    ("POST", "/stalls/([^/]+)/(open|shut)", Bazaar.move),
    ("GET", "/stalls/([^/]+)/tickets", Bazaar.tickets_of),
    ("POST", "/stalls/([^/]+)/purses", Bazaar.fill_purse),
    ("GET", "/tickets/([^/]+)", lambda self, ticket, body: self.tickets[ticket]),
    ("POST", "/tickets/([^/]+)/(pay|throw_out)", Bazaar.decide),
    ("POST", "/tickets/([^/]+)/ask_back", Bazaar.ask_back),
    ("POST", "/purses/([^/]+)/pay", Bazaar.pay_purse),
    ("POST", "/seals", Bazaar.new_seal),
    ("POST", "/runners", Bazaar.send_runner),
)


def _page(rows, body):
    """Two of them, and the word by which the rest is had."""
    begin = int((body or {}).get("rest", "0"))
    more = begin + AT_A_TIME < len(rows)
    return {"rows": rows[begin : begin + AT_A_TIME], "rest": str(begin + AT_A_TIME) if more else None}


def _now():
    return datetime.now(UTC).isoformat()
