# SPDX-License-Identifier: BSD-3-Clause
"""Schemas for grammar_check.py: fixed ones, ones that must be refused, and random ones with instances."""

SCHEMAS = [
    True,
    {},
    {"type": "object"},
    {"type": "array"},
    {"type": ["string", "null"]},
    {"type": "boolean", "nullable": True, "title": "ignored", "description": "ignored", "default": False},
    {"const": {"a": [1, 2.5, None], "é\"": True}},
    {"enum": ["red", "green", "gré", 3, 2.5, None, [1], {"k": "v"}]},
    {"type": "string", "enum": ["a", "ab", "abc", 5]},
    {"type": "string", "minLength": 2, "maxLength": 5},
    {"type": "string", "maxLength": 0},
    {"type": "string", "pattern": "^[a-z]{2,4}$"},
    {"type": "string", "pattern": "b+\"?"},
    {"type": "string", "pattern": "^\\d|x$"},
    {"type": "string", "pattern": "^[^a-y]{1,3}$"},
    {"type": "string", "pattern": "\\\\|/"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "time"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "uuid"},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "ipv4"},
    {"type": "integer", "minimum": -5, "exclusiveMaximum": 1200},
    {"type": "number"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 3},
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}], "items": {"type": "string"}, "minItems": 1},
    {"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False},
    {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^x"}, {"type": "null"}]},
    {"allOf": [{"$ref": "#/$defs/one"}], "$defs": {"one": {"const": "one"}}},
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}, "é/~": {"type": "null"}},
        "required": ["name"],
        "additionalProperties": False,
    },
    {"type": "object", "properties": {"a": {"type": "integer"}, "ab": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"], "additionalProperties": {"type": "null"}},
    {"type": "object", "properties": {"a": False, "b": {"type": "null"}}},
    {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
    {  # a tree
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["value"],
            }
        },
    },
    {  # a linked list
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["next"],
        "additionalProperties": False,
    },
    {"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"oneOf": [{"type": "integer"}, {"$ref": "#/definitions/c"}]}, "c": {"type": "boolean"}}},
]

DEEP = '{"items":' * 150 + "{}" + "}" * 150

# What is refused, and a word that the message must hold.
REFUSED = [
    ({"type": "array", "uniqueItems": True}, "uniqueItems"),
    ({"type": "object", "patternProperties": {}}, "patternProperties"),
    ({"type": "object", "minProperties": 1}, "minProperties"),
    ({"not": {"type": "null"}}, "not"),
    ({"if": {}, "then": {}}, "if"),
    ({"type": "integer", "multipleOf": 3}, "multipleOf"),
    ({"type": "number", "minimum": 0}, "minimum"),
    ({"type": "string", "format": "uri"}, "uri"),
    ({"type": "string", "pattern": "a", "maxLength": 3}, "maxLength"),
    ({"type": "string", "pattern": "(?=a)"}, "look"),
    ({"type": "strange"}, "type"),
    ({"allOf": [{"type": "integer"}, {"minimum": 1}]}, "allOf"),
    ({"anyOf": [{}], "properties": {}}, "properties"),
    ({"$ref": "#/nowhere"}, "#/nowhere"),
    ({"$ref": "http://example.com/schema"}, "example.com"),
    ({"properties": {"a": {"items": {"contains": {}}}}}, "properties/a/items"),
    ({"type": "string", "minLength": -1}, "minLength"),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength"),
    ({"type": "integer", "minimum": 3, "maximum": 2}, "no text"),
    ({"type": "integer", "minimum": "3"}, "minimum"),
    ({"enum": []}, "no text"),
    (False, "no text"),
    ({"$ref": "#"}, "no text"),
    ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "no text"),
    ({"type": "array", "items": {"$ref": "#"}, "minItems": 1}, "no text"),
    ({"type": "string", "maxLength": 10**9}, "transitions"),
    ({"type": "array", "items": {"type": "array", "minItems": 10**6}}, "transitions"),
    ({"items": [{}]}, "prefixItems"),
    (5, "object or a boolean"),
    ("{", "JSON"),
    ("", "JSON"),
    (DEEP, "nested"),
    ('{"const": 123456789012345678901234567890}', "63 bits"),
    (" " * (1 << 20) + "{}", "1 MiB"),
]


def random_schema(rng, depth):
    """A schema of which random_instance knows how to make instances."""
    kinds = ["string", "integer", "number", "boolean", "null", "enum", "const"]
    kind = rng.choice(kinds + (["array", "object", "anyOf", "object"] if depth else []))
    if kind == "string":
        low = rng.choice([None, 0, 2])
        schema = {"type": "string"}
        if low is not None:
            schema["minLength"] = low
        if rng.random() < 0.5:
            schema["maxLength"] = (low or 0) + rng.randrange(4)
        return schema
    if kind == "integer":
        schema = {"type": "integer"}
        if rng.random() < 0.7:
            schema["minimum"] = rng.randrange(-200, 200)
        if rng.random() < 0.7:
            schema["maximum"] = schema.get("minimum", 0) + rng.randrange(300)
        return schema
    if kind == "enum":
        return {"enum": [random_value(rng, 1) for _ in range(rng.randrange(1, 4))]}
    if kind == "const":
        return {"const": random_value(rng, 2)}
    if kind == "array":
        schema = {"type": "array", "items": random_schema(rng, depth - 1)}
        if rng.random() < 0.4:
            schema["minItems"] = rng.randrange(3)
        if rng.random() < 0.4:
            schema["maxItems"] = schema.get("minItems", 0) + rng.randrange(3)
        if rng.random() < 0.3:
            schema["prefixItems"] = [random_schema(rng, depth - 1) for _ in range(rng.randrange(1, 3))]
        return schema
    if kind == "object":
        names = rng.sample(["a", "ab", "b", "é", 'q"', "x y", ""], rng.randrange(5))
        schema = {"type": "object", "properties": {n: random_schema(rng, depth - 1) for n in names}}
        schema["required"] = [n for n in names if rng.random() < 0.5]
        schema["additionalProperties"] = rng.choice([False, False, True, random_schema(rng, 0)])
        return schema
    if kind == "anyOf":
        return {"anyOf": [random_schema(rng, depth - 1) for _ in range(rng.randrange(1, 4))]}
    return {"type": kind}


def random_text(rng, low=0, high=6):
    return "".join(rng.choice('ab é€𝄞"\\\n/\t\x01') for _ in range(rng.randint(low, high)))


def random_value(rng, depth):
    kind = rng.randrange(7 if depth else 5)
    if kind == 5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(3))]
    if kind == 6:
        return {random_text(rng, 0, 2): random_value(rng, depth - 1) for _ in range(rng.randrange(3))}
    return [None, rng.random() < 0.5, rng.randrange(-1000, 1000), round(rng.uniform(-9, 9), 3), random_text(rng)][kind]


def random_instance(schema, rng):
    if schema is True:
        return random_value(rng, 1)
    if "anyOf" in schema:
        return random_instance(rng.choice(schema["anyOf"]), rng)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    kind = schema["type"]
    if kind == "string":
        low = schema.get("minLength", 0)
        return random_text(rng, low, schema.get("maxLength", low + 4))
    if kind == "integer":
        low = schema.get("minimum", schema.get("maximum", 0) - 500)
        return rng.randint(low, schema.get("maximum", low + 500))
    if kind == "number":
        return rng.choice([0, -1, 2.5, 1e20, -3e-9, 12345678])
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "null":
        return None
    if kind == "array":
        low = schema.get("minItems", 0)
        prefix = schema.get("prefixItems", [])
        size = rng.randint(low, schema.get("maxItems", max(low, len(prefix)) + 2))
        return [random_instance(prefix[i] if i < len(prefix) else schema["items"], rng) for i in range(size)]
    required = schema["required"]
    out = {n: random_instance(s, rng) for n, s in schema["properties"].items() if n in required or rng.random() < 0.5}
    extra = schema["additionalProperties"]
    if extra is not False:
        for name in {"abc", "other", "é€"} - set(out) - set(schema["properties"]):
            if rng.random() < 0.4:
                out[name] = random_instance(extra, rng)
    return out


