# SPDX-License-Identifier: BSD-3-Clause
"""Regular expressions for grammar_check.py: those that are right with an alphabet for texts, and those that must be refused."""

PATTERNS = [
    ("ab", ["", "a", "ab|b", "a*", "a+b?", "(a|b)*", "(a|ab)(b|)", "(ab)*a", "[ab]{2,3}", "a{2}", "a{0,2}b{1,}", "(a?b?){2}"]),
    ("ab", ["((a|b){2}){1,2}", "(a{1,2}){2,3}", "(a*)*b", "(a*b*)*", "((a+)+)+b", "[^a]*", "(?:a|b)(?P<x>b)?", "a{,2}b"]),
    ("ab", ["^ab$", "^a|b$", "(|a)(|b)", "a.b", "(a{0,3}b){0,2}", "a+?b*?", "()", "(a|b|ab|ba)+", "[a-b]b", "[b-b-]"]),
    ("a1_ ", [r"\d", r"\w+", r"\s?\S", r"[\d_]*", r"[^\w]", r"\W\w", r"\D\d{1,2}", r"[\s\d]+", r"\x61\u0031", "a{", "{1", "a{1,x}"]),
    ("aAkK", ["(?i:a)k", "(?i:[a-c]k)+", "(?i:a|K)?A"]),
    ("é€𝄞a", [".", "é*", "[é-€]+", "[^a]{2}", r"\w*", "(é|€𝄞)+", r"\W", "[\u20ac-\U0001d11e]a?", ".{2}"]),
    ("\n\"\\a", [".", r"\\+", r"[\\\"]", r"\n", "[^\\n]", r"[\n]a|\"", r"\"{2}"]),
]

BROKEN = ["(", ")", "a)", "[a", "*a", "a**", "a{3,2}", "(?P<a", "\\", "[b-a]", r"\x1", "+", "(a", r"[\d-a]", r"\ud800"]
UNSUPPORTED = [r"\bA", "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?i)a", "a++", "(?>a)", r"\A", "a^", "$a", "a{200000}"]
