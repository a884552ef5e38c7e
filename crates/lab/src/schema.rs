//! JSON Schemas (draft 7, which editors of TOML read) of experiment files and profile files, made from the tables that parse them: keys,
//! leaves, metrics and names of the registry.
//!
//! A schema knows form, and one entry at a time. It refuses what an editor can mark while one writes; what takes two entries, a file's
//! arms or a size, only the readers refuse. Words are given in their own spelling, though readers accept any case.

use crate::spec::{self, GROUP_KEYS, KeyForm, METRICS, keys};
use profiles::units::Notation;
use profiles::{Confidence, Form, LEAVES, Leaf};
use serde_json::{Map, Value, json};

/// Returns the schema of an experiment file.
pub fn experiment() -> Value {
    let sections = ["path", "host", "flow"].map(|section| {
        let below = format!("{section}.");
        let inside = || keys().filter_map(|key| Some((key.name.strip_prefix(&below)?, of_key(key))));
        let mut schema = tree(inside());
        // Readers also take a quoted name with its dots.
        inside().filter(|(name, _)| name.contains('.')).for_each(|(name, key)| schema["properties"][name] = key);
        (section, schema)
    });
    let mut properties = Map::new();
    properties.insert("summary".to_owned(), sentence("what is compared, in one sentence"));
    properties.insert("source".to_owned(), sentence("why this path: a measurement, a paper, a network"));
    properties.extend(sections.map(|(name, schema)| (name.to_owned(), schema)));
    let named = |name: &str, schema: Value| (name.to_owned(), schema);
    properties.extend([
        named("flows", tables("groups of flows on the path", &json!(group()))),
        named("cells", tables("cells one by one, each with a twin without what disturbs it", &cell())),
        named("draw", tables("templates of cells that `--draw` fills", &draw())),
        named("arms", arms()),
        named("sweep", sweep()),
        named("run", run()),
        named("expect", expect()),
    ]);
    document("A longhaul experiment", properties, &["summary", "arms"])
}

/// Returns the schema of a profile file.
pub fn profile() -> Value {
    let Value::Object(mut properties) =
        tree(LEAVES.iter().map(|leaf| (leaf.path, cited(of_leaf(leaf)))))["properties"].take()
    else {
        unreachable!("a tree has properties")
    };
    let registry = profiles::registry_names().map(|(name, range)| {
        let number = json!({"type": "integer", "minimum": range.start(), "maximum": range.end()});
        let digits = json!({"type": "string", "pattern": "^[0-9]+$"});
        let says = format!("a whole number from {} to {}", range.start(), range.end());
        (name.to_owned(), cited(json!({"title": name, "description": says, "anyOf": [number, digits]})))
    });
    properties.extend([
        ("summary".to_owned(), sentence("which TCP this is, in one sentence")),
        ("extends".to_owned(), sentence("the profile whose leaves this one inherits")),
        ("registry".to_owned(), object(registry.collect(), "settings by their names in an old system's registry")),
        ("later".to_owned(), json!({"type": "object", "description": "what the system has and no leaf describes yet"})),
    ]);
    document("A longhaul profile", properties, &["summary"])
}

fn document(title: &str, properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut schema = object(properties, title);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(title);
    schema["required"] = json!(required);
    schema
}

fn object(properties: Map<String, Value>, description: &str) -> Value {
    json!({"type": "object", "description": description, "properties": properties, "additionalProperties": false})
}

/// Nests schemas by the dots of their names.
fn tree<'n>(leaves: impl Iterator<Item = (&'n str, Value)>) -> Value {
    let mut root = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for (name, schema) in leaves {
        let (above, last) = name.rsplit_once('.').unwrap_or(("", name));
        let mut at = &mut root;
        for part in above.split('.').filter(|part| !part.is_empty()) {
            at = &mut at["properties"][part];
            if at.is_null() {
                *at = json!({"type": "object", "properties": {}, "additionalProperties": false});
            }
        }
        at["properties"][last] = schema;
    }
    root
}

fn tables(description: &str, each: &Value) -> Value {
    json!({"type": "array", "minItems": 1, "description": description, "items": each})
}

fn sentence(description: &str) -> Value {
    json!({"type": "string", "pattern": "\\S", "description": description})
}

/// What readers take as a text: a string, or a number as it is written.
fn scalar() -> Value {
    json!({"type": ["string", "number"]})
}

fn of_key(key: &spec::Key) -> Value {
    let (mut schema, unit) = match key.form {
        KeyForm::Quantity(notation) => (quantity(notation, None, false), Some(notation)),
        KeyForm::Optional(notation) => (quantity(notation, None, true), Some(notation)),
        KeyForm::Words(words) => (json!({"enum": words}), None),
        KeyForm::Text(example) => (json!({"type": ["string", "number"], "examples": [example]}), None),
    };
    schema["title"] = json!(key.name);
    schema["description"] = json!(match (key.form, unit) {
        (KeyForm::Text(example), _) => format!("{}; for example `{example}`", key.says),
        (_, Some(notation)) => format!("{}: {}", key.says, notation.meaning()),
        _ => key.says.to_owned(),
    });
    schema
}

fn of_leaf(leaf: &Leaf) -> Value {
    let (mut schema, mut says) = match leaf.form() {
        Form::Words(words) => (json!({"enum": words}), "one of these words".to_owned()),
        Form::Quantity { notation, most, optional } => {
            let none = if optional { ", or none" } else { "" };
            (quantity(notation, most, optional), format!("{}{none}", notation.meaning()))
        }
    };
    if let Some((kind, words)) = leaf.kinds() {
        says += &format!("; applies where {kind} is {}", words.join(", "));
    }
    schema["title"] = json!(leaf.path);
    schema["description"] = json!(says);
    schema
}

fn quantity(notation: Notation, most: Option<u64>, optional: bool) -> Value {
    let none = if optional { "|[nN][oO][nN][eE]" } else { "" };
    let text = json!({"type": "string", "pattern": format!("^ *({}{none}) *$", notation.pattern())});
    let mut number = match notation {
        Notation::Time => json!({"const": 0}),
        Notation::Rate => return text,
        Notation::Bytes | Notation::Count => json!({"type": "integer", "minimum": 0}),
        Notation::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
    };
    if let Some(most) = most {
        number["maximum"] = json!(most);
    }
    json!({"anyOf": [text, number]})
}

/// A value by itself, or with its evidence.
fn cited(value: Value) -> Value {
    let words: Vec<&str> = Confidence::ALL.iter().map(|confidence| confidence.word()).collect();
    let (title, description) = (value["title"].clone(), value["description"].clone());
    let properties = json!({
        "value": value,
        "source": sentence("where the value comes from: a document and its section, or a measurement"),
        "confidence": {"enum": words, "description": "how surely it is known"},
    });
    let evidence = json!({
        "type": "object",
        "properties": properties,
        "required": ["value", "source", "confidence"],
        "additionalProperties": false,
    });
    json!({"title": title, "description": description, "anyOf": [value, evidence]})
}

fn group() -> Value {
    let properties = GROUP_KEYS.iter().map(|key| ((*key).to_owned(), scalar()));
    object(properties.collect(), "flows that are alike; `longhaul experiments fairness --toml` shows some")
}

/// Settings by their full keys.
fn settings() -> Value {
    object(keys().map(|key| (key.name.to_owned(), of_key(key))).collect(), "settings by their full keys")
}

fn cell() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[^,]*[^, ][^,]*$", "description": "a name of its own, without a comma"},
            "kind": sentence("what disturbs it, for all cells of a kind"),
            "role": {"enum": ["train", "hold-out"], "description": "whether profiles may be tuned on it"},
            "base": settings(),
            "disturb": settings(),
        },
        "required": ["name", "kind"],
        "additionalProperties": false,
    })
}

fn draw() -> Value {
    let templates = json!({"type": "object", "additionalProperties": {"type": "string", "pattern": "\\S"}});
    let properties = json!({"kind": sentence("what disturbs the cells"), "base": templates, "disturb": templates});
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn arms() -> Value {
    let leaves =
        object(LEAVES.iter().map(|leaf| (leaf.path.to_owned(), of_leaf(leaf))).collect(), "leaves that it changes");
    let profile = json!({
        "type": "object",
        "properties": {"profile": sentence("the built-in profile that it starts from"), "set": leaves},
        "required": ["profile"],
        "additionalProperties": false,
    });
    let commands = json!({
        "type": "object",
        "properties": {"server": sentence("the command of the server"), "client": sentence("the command of the client")},
        "required": ["server", "client"],
        "additionalProperties": false,
    });
    let used = json!({
        "type": "array",
        "minItems": 1,
        "items": {"type": "string"},
        "description": "arms in their order, the first is the reference: profiles, kernel:NAME, or arms of this table",
    });
    json!({
        "type": "object",
        "minProperties": 1,
        "description": "what is compared",
        "properties": {"use": used},
        "patternProperties": {"^(?!use$)[A-Za-z0-9_-]+$": {"anyOf": [profile, commands]}},
        "additionalProperties": false,
    })
}

fn sweep() -> Value {
    let list = |each: Value| json!({"type": "array", "minItems": 1, "items": each});
    let axes = keys().map(|key| (key.name.to_owned(), list(of_key(key))));
    let leaves = LEAVES.iter().map(|leaf| (format!("^[^.]+\\.{}$", escaped(leaf.path)), list(of_leaf(leaf))));
    json!({
        "type": "object",
        "description": "each combination of values is a cell: keys of the path and the flow, or leaves as ARM.LEAF",
        "properties": axes.collect::<Map<_, _>>(),
        "patternProperties": leaves.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

fn run() -> Value {
    let whole = |least: u64, most: u64, says: &str| {
        let number = json!({"type": "integer", "minimum": least, "maximum": most});
        json!({"anyOf": [number, {"type": "string", "pattern": "^ *[0-9]+ *$"}], "description": says})
    };
    let properties = json!({
        "iterations": whole(1, u32::MAX.into(), "runs of each arm in each cell"),
        "seed": whole(0, u64::MAX, "the same seed gives the same result, byte by byte"),
    });
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn expect() -> Value {
    let metrics = std::iter::once("goodput").chain(METRICS.iter().map(|metric| metric.name)).map(escaped);
    let term = format!("[^/]+\\.({})", metrics.collect::<Vec<_>>().join("|"));
    let bound = json!({"type": ["number", "string"]});
    let bounds = json!({
        "type": "object",
        "properties": {"at_least": bound, "at_most": bound},
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "description": "what has to be true in every cell, as ARM.METRIC or ARM.METRIC / ARM.METRIC",
        "patternProperties": {format!("^ *{term} *(/ *{term} *)?$"): bounds},
        "additionalProperties": false,
    })
}

/// A name in a regular expression.
fn escaped(name: &str) -> String {
    name.replace('.', "\\.")
}
