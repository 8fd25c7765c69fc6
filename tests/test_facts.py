# SPDX-License-Identifier: MIT
"""The key facts of TechGadgets: which documents say them, and that they say the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from chunklib.course.datasets import load_course_documents

# One line each, because a fact may be broken over lines, in a PDF anywhere.
TEXTS = {document.id: " ".join(document.text.split()) for document in load_course_documents()}

RETURNS, ARCHIVED, SHIPPING, WARRANTY = "returns-policy.md", "returns-policy-2023.md", "shipping.md", "warranty.md"
HUB, NOTES, GUIDE = "homehub-manual.md", "homehub-release-notes.md", "homehub-automation-guide.md"
AX310, TW5, VR80 = "ax310-headphones-manual.md", "tw5-watch-manual.md", "vr80-vacuum-manual.md"
PS600, CARDS, API = "ps600-power-station-manual.pdf", "service-desk-cards.pdf", "api-orders.html"
CALL, SIX_TOPICS, ESSAY = "call-vacuum.txt", "call-six-topics.txt", "founders-essay.txt"
FAQ, POINTS, COMPARISON, HANDBOOK = "faq.txt", "loyalty-program.md", "product-comparison.md", "support-handbook.md"
BATTERY, SAME_BATTERY, CASES = "battery-care.txt", "help-battery-care.txt", "zh-cases.md"


@dataclass(frozen=True)
class Fact:
    """Where it is said and how often, nowhere else; how it is found there; what the groups say, in any spelling."""

    name: str
    places: Mapping[str, int]
    pattern: str
    value: str | tuple[str, ...]


FACTS = (
    Fact("return window", {RETURNS: 1}, r"(\d+)-day return window", "30"),
    Fact("return window, faulty", {RETURNS: 1}, r"faulty, the window is (\d+) days", "60"),
    Fact("return window, old", {ARCHIVED: 4}, r"(?:\breturn[^.]{,30} within|window of|same) (\d+) days", "45"),
    Fact("who says 30 days", {RETURNS: 1, WARRANTY: 1}, r"\b(30)[ -]days?\b", "30"),
    Fact("who says 60 days", {RETURNS: 1, WARRANTY: 1, POINTS: 2}, r"\b(60)[ -]days?\b", "60"),
    Fact("who says 45 days", {ARCHIVED: 6}, r"\b(45)[ -]days?\b", "45"),
    Fact("end of the old policy", {ARCHIVED: 2},
         r"valid_until: (\S+)|2023 and ([\w ]+),", ("2025-02-28", "28 February 2025")),
    Fact("start of the new policy", {RETURNS: 1}, r"placed on or after ([\w ]+),", "1 March 2025"),
    Fact("standard shipping", {SHIPPING: 1},
         r"It takes (\d+ to \d+) business days and costs (€[\d.]+)\.", "5 to 7 €4.90"),
    Fact("express shipping", {SHIPPING: 1},
         r"express: it takes (\d+ to \d+) business days and costs (€[\d.]+)\.", "2 to 3 €12.90"),
    Fact("both in the table", {SHIPPING: 5},
         r"\| (?:Netherlands|Germany|France|Italy|Poland)\b[^|]*\| ([^|]+ \| [^|]+ \| [^|]+ \| [^|]+) \|",
         "€4.90 | 5–7 | €12.90 | 2–3"),
    Fact("price of shipping", {SHIPPING: 2}, r"(?i:standard|express) (?i:shipping|delivery)[^.€]{,90}(€[\d.,]*\d)",
         ("€4.90", "€12.90")),
    Fact("who says these prices", {SHIPPING: 12}, r"(€4\.90|€12\.90)", ("€4.90", "€12.90")),
    Fact("who says these times", {SHIPPING: 2}, r"\b(5 to 7|2 to 3)\b", ("5 to 7", "2 to 3")),
    Fact("free shipping", {SHIPPING: 1}, r"Orders of (€\d+) or more", "€50"),
    Fact("large items", {RETURNS: 1, SHIPPING: 1, WARRANTY: 1},
         r"monitors of (\d+ inches) or more, and anything heavier than (\d+ kg)", "55 inches 25 kg"),
    Fact("CarePlus, a year", {WARRANTY: 1}, r"CarePlus[^.€]{,80}(€[\d.,]*\d)", "€39"),
    Fact("warranty, other brands", {WARRANTY: 2},
         r"(?:we sell carries a warranty of|any other brand \|) (\d+) months", "24"),
    Fact("warranty, own brand", {WARRANTY: 2, AX310: 1, HUB: 1},
         r"(?:device itself, are covered for|Gadgets brand \||(?:product with|gives) a warranty of) (\d+) months",
         "36"),
    Fact("warranty, batteries", {WARRANTY: 2, AX310: 1, HUB: 1},
         r"(?:keypads are covered for|other wear parts \||ear pads it is|HomeHub 2 and of) (\d+) months", "12"),
    Fact("weak battery", {WARRANTY: 2, AX310: 1}, r"(?:drops below|holds less than) (\d+) ?%", "70"),
    Fact("life of a battery", {AX310: 1, BATTERY: 1, SAME_BATTERY: 1},
         r"after (?:about )?([\w ]+) full (?:charges|cycles)", ("500", "five hundred")),
    Fact("what is lent", {WARRANTY: 1, CARDS: 1}, r"(?:While your|Only) (phone[\w, ]+) (?:is with|are lent)",
         ("phone, tablet or laptop", "phones, tablets and laptops")),
    Fact("hours of the hotline", {WARRANTY: 1, AX310: 1, HUB: 1},
         r"hotline\b[^.]{,40}?\b(\w+ to \w+)(?:,| from) (\d+:\d\d to \d+:\d\d)(?: (CET))?",
         "Monday to Saturday 8:00 to 20:00 CET"),
    Fact("end of the last shift", {HANDBOOK: 3},
         r"(?:Late: [\d:]+–|one team only, [\d:]+–|\bAfter )(\d+:\d\d)", "20:15"),
    Fact("hub, devices", {HUB: 2}, r"(?:up to|at most|limit of|\| Devices \|) (\d+)(?: devices|, of)", "120"),
    Fact("hub, devices on batteries", {HUB: 2}, r"(?:no more than|, of which) (\d+) (?:may run )?on batteries", "40"),
    Fact("hub, automations", {HUB: 1, NOTES: 1}, r"(?:\| Automations \||rises from 150 to) (\d+)", "200"),
    Fact("hub, newest firmware", {HUB: 1, GUIDE: 1, NOTES: 1},
         r"(?:HomeHub 2 with firmware|tried with firmware|night before\. ## Version) (\d+\.\d+)", "3.2"),
    Fact("hub, firmware for DL-9 and AX-310", {HUB: 2, NOTES: 1},
         r"\| (?:DL-9 ¹|AX-310) \| [^|]+ \| ([\d.]+)|Version ([\d.]+)\.0 Released[^#]+### New - [^.]+DL-9[^.]+AX-310",
         "3.2"),
    Fact("hub, firmware for DB-4 and others", {HUB: 5, NOTES: 1},
         r"\| (?:SP-14|TH-60|SM-7|SR-6|DB-4) \| [^|]+ \| ([\d.]+)|"
         r"Version ([\d.]+)\.0 Released[^#]+### New - [^.]+SP-14[^.]+TH-60[^.]+SM-7[^.]+SR-6[^.]+DB-4", "3.1"),
    Fact("hub, firmware for VR-80", {NOTES: 1}, r"Version ([\d.]+) Released[^#]+### New - [^.]+VR-80", "3.2.1"),
    Fact("hub, longest update in minutes", {HUB: 1, NOTES: 1},
         r"(?:being rewritten, which takes up to|with the first set-up\. - Installing takes) (\d+) minutes", "25"),
    Fact("hub, longest search in seconds", {HUB: 1, NOTES: 1}, r"(?:Wait up to|be found within) (\d+) seconds", "40"),
    Fact("hub, radio in MHz", {HUB: 2, VR80: 1}, r"(\d+)(?:\.\d)? MHz", "868"),
    Fact("hub, code for faulty files", {HUB: 1, GUIDE: 1}, r"(E-\d\d) (?:\| Mistake in|line \d+:)", "E-31"),
    Fact("hub, firmware of its headphones", {HUB: 1, AX310: 2},
         r"(?:They need firmware|From firmware|previous version,) (v[\d.]+\d)", "v2.4.0"),
    Fact("AX-310, antenna", {AX310: 1, TW5: 1}, r"(?:the AX-310 is in the|phone on the) (right|left)\b", "right"),
    Fact("AX-310, battery", {AX310: 1, ESSAY: 1}, r"(?:The battery is|have a) (\w+)(?: in and| battery, which our)",
         "glued"),
    Fact("TW-5, sleep", {TW5: 1, SIX_TOPICS: 1}, r"(?:red band in the|because of the sleep) (\w+)", "graph"),
    Fact("TW-5, app", {TW5: 1, FAQ: 1}, r"free TechGadgets (\w+) app|the watch in (\w+),", "Move"),
    Fact("hub and VR-80, app", {HUB: 1, NOTES: 1, VR80: 1, FAQ: 1},
         r"(?:parts of|those of|timetable you need) the TechGadgets (\w+) app|the vacuum in (\w+)\.", "Home"),
    Fact("VR-80, buttons", {VR80: 1, CALL: 1}, r"(?:two buttons on its|you look at the) (\w+)", "lid"),
    Fact("VR-80, contacts", {VR80: 1, CALL: 1}, r"([Tt]wo) metal strips", ("Two", "two")),
    Fact("VR-80, Wi-Fi", {VR80: 1, CALL: 1}, r"\| Wi-Fi \| ([\d.]+ GHz) \||robot only understands the (\w+) one",
         ("2.4 GHz", "slow")),
    Fact("VR-80, filter in months", {VR80: 1, FAQ: 1}, r"(?:tap it out \| every|set every) (\w+) months", ("6", "six")),
    Fact("VR-80, brush for pets", {CALL: 1}, r"\b(RB-84)\b", "RB-84"),
    Fact("PS-600, capacity in Wh", {PS600: 2}, r"(?:With its|\bCapacity) (\d+) Wh", "614"),
    Fact("PS-600, firmware", {PS600: 3}, r"Edition 2, for firmware (\S+)\. It|Version (\S+) corrects|refuse (\S+) with",
         "1.6"),
    Fact("PS-600, projector in W", {PS600: 1, COMPARISON: 1}, r"(?:Projector 230 V|projector of) (\d+) W", "90"),
    Fact("prices", {COMPARISON: 4}, r"\b(AX-310|TW-5|VR-80|PS-600|HomeHub 2)\b[^.|€]{,40}(€[\d.,]*\d)",
         ("AX-310 €149", "TW-5 €199", "VR-80 €429", "PS-600 €549")),
    Fact("warehouse", {API: 1, ARCHIVED: 1, ESSAY: 1}, r"(?:we send from|our warehouse in|we moved to) ([A-Z]\w+)",
         "Tilburg"),
    Fact("founder", {SIX_TOPICS: 1, ESSAY: 1}, r"That's (\w+), one of the founders|\. (\w+) and I had come", "Joost"),
)  # fmt: skip


def hits(fact: Fact, texts: Mapping[str, str]) -> list[tuple[str, re.Match[str]]]:
    return [(name, match) for name, text in texts.items() for match in re.finditer(fact.pattern, text)]


def faults(fact: Fact, texts: Mapping[str, str]) -> list[str]:
    values = (fact.value,) if isinstance(fact.value, str) else fact.value
    wrong, times = [], dict.fromkeys(texts, 0)
    for name, match in hits(fact, texts):
        times[name] += 1
        if (said := " ".join(filter(None, match.groups()))) not in values:
            wrong.append(f"{name} says {said}")
    return wrong + [f"{name}: {n} times" for name, n in times.items() if n != fact.places.get(name, 0)]


every_fact = pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)


@every_fact
def test_documents_agree(fact: Fact) -> None:
    assert not faults(fact, TEXTS)


@every_fact
def test_drift_is_noticed(fact: Fact) -> None:
    """Be it that one place says something else, says it no more, or that one more document says it."""
    for name, match in hits(fact, TEXTS):
        text = TEXTS[name]

        def edited(start: int, end: int, new: str, name: str = name, text: str = text) -> list[str]:
            return faults(fact, {**TEXTS, name: text[:start] + new + text[end:]})

        for at in (n for group in range(1, match.re.groups + 1) for n in range(*match.span(group))):
            assert not text[at].isalnum() or edited(at, at + 1, "7" if text[at] != "7" else "8"), text[at]
        assert edited(*match.span(), "")
        assert faults(fact, {**TEXTS, CASES: f"{TEXTS[CASES]} {match[0]}"})
