//! What `/docs` shows from the OpenAPI document: the steps of a sign-in, then everything else by subject. The
//! texts of the document are English; what the page adds to them is in the user's language.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::endpoint::description::operation::{HTML, JSON};
use crate::page::language::Language;
use crate::page::templates::{Templates, fill};

/// Every response has these headers, so only the overview lists them.
const IN_EVERY_ANSWER: [&str; 2] = ["X-Request-Id", "Cache-Control"];

/// The context of the template.
#[derive(Serialize)]
pub struct Contents<'a> {
    /// Where the document is.
    document: &'a str,
    /// Where the metadata of the server are, on the page of the public interface.
    metadata: Option<&'a str>,
    /// Where the operator serves the documentation.
    pub(super) documentation: Option<&'a str>,
    introduction: Vec<&'a str>,
    headers: Vec<Header<'a>>,
    groups: Vec<Group<'a>>,
}

#[derive(Serialize)]
struct Header<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct Group<'a> {
    kind: &'static str,
    title: &'a str,
    text: &'a str,
    operations: Vec<Shown<'a>>,
}

/// An operation, or one of the steps that it is used for.
#[derive(Serialize)]
struct Shown<'a> {
    id: String,
    number: Option<u64>,
    title: &'a str,
    operation: &'a str,
    example: usize,
    method: String,
    path: &'a str,
    text: &'a str,
    is_visited: bool,
    proofs: Vec<Proof<'a>>,
    fields: Vec<Field<'a>>,
    encodings: Vec<&'a str>,
    examples: Vec<Example<'a>>,
    answers: Vec<Answer<'a>>,
    refusals: Vec<Refusal<'a>>,
}

#[derive(Serialize)]
struct Proof<'a> {
    text: &'a str,
    is_optional: bool,
}

/// A field. If it is an object, or a list of objects, with their fields.
#[derive(Serialize)]
struct Field<'a> {
    name: &'a str,
    facts: String,
    text: &'a str,
    fields: Vec<Self>,
}

#[derive(Serialize)]
struct Example<'a> {
    title: &'a str,
    text: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    status: &'a str,
    text: &'a str,
    bodies: Vec<Body<'a>>,
    headers: Vec<&'a str>,
}

#[derive(Serialize)]
struct Body<'a> {
    media: &'a str,
    fields: Vec<Field<'a>>,
    examples: Vec<String>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    status: &'a str,
    /// The first digit of the status; the style sheet colors by it.
    class: &'a str,
    reason: &'a str,
    text: &'a str,
    cases: Vec<Case<'a>>,
    headers: Vec<&'a str>,
}

#[derive(Serialize)]
struct Case<'a> {
    error: &'a str,
    text: &'a str,
}

/// The operations of the document in their groups.
pub fn contents<'a>(
    document: &'a Value,
    templates: &'a Templates,
    language: Language,
    document_path: &'a str,
    metadata_path: Option<&'a str>,
) -> Contents<'a> {
    let reader = Reader { document, templates, language };
    let mut steps = Vec::new();
    let mut others = Vec::new();
    for (path, methods) in entries(&document["paths"]) {
        for (method, operation) in entries(methods) {
            match operation["x-steps"].as_array() {
                None => others.push((text(&operation["tags"][0]), reader.operation(path, method, operation))),
                Some(numbers) => steps.extend(
                    numbers
                        .iter()
                        .enumerate()
                        .map(|(example, number)| reader.step(path, method, operation, number, example)),
                ),
            }
        }
    }
    steps.sort_by_key(|step| step.number);
    let mut groups = vec![Group { kind: "steps", title: "", text: "", operations: steps }];
    for tag in document["tags"].as_array().into_iter().flatten() {
        let title = text(&tag["name"]);
        let operations: Vec<_> =
            others.extract_if(.., |(of, _)| *of == title).map(|(_, operation)| operation).collect();
        let kind = if title == "Sign-in" { "beside" } else { "tag" };
        groups.push(Group { kind, title, text: text(&tag["description"]), operations });
    }
    Contents {
        document: document_path,
        metadata: metadata_path,
        documentation: None,
        introduction: text(&document["info"]["description"]).split("\n\n").collect(),
        headers: reader.headers(),
        groups,
    }
}

struct Reader<'a> {
    document: &'a Value,
    templates: &'a Templates,
    language: Language,
}

impl<'a> Reader<'a> {
    fn say(&self, key: &'static str) -> &'a str {
        self.templates.text(self.language, key)
    }

    /// Follows a reference.
    fn resolved(&self, value: &'a Value) -> &'a Value {
        let reference = value["$ref"].as_str();
        reference
            .and_then(|reference| self.document.pointer(reference.trim_start_matches('#')))
            .unwrap_or(value)
    }

    fn headers(&self) -> Vec<Header<'a>> {
        let mut headers: Vec<Header<'_>> = Vec::new();
        for (_, methods) in entries(&self.document["paths"]) {
            for (_, operation) in entries(methods) {
                for (_, answer) in entries(&operation["responses"]) {
                    for (name, header) in entries(&answer["headers"]) {
                        let text = text(&self.resolved(header)["description"]);
                        if !headers.iter().any(|known| known.name == name && known.text == text) {
                            headers.push(Header { name, text });
                        }
                    }
                }
            }
        }
        headers
    }

    /// One of the steps that an operation is used for. The example with the same index belongs to it.
    fn step(
        &self,
        path: &'a str,
        method: &'a str,
        operation: &'a Value,
        number: &Value,
        example: usize,
    ) -> Shown<'a> {
        let shown = self.operation(path, method, operation);
        let is_one_of_several = operation["x-steps"].as_array().is_some_and(|steps| steps.len() > 1);
        let title = shown.examples.get(example).filter(|_| is_one_of_several);
        Shown {
            id: format!("step-{number}-{}", shown.operation),
            number: number.as_u64(),
            title: title.map_or(shown.title, |example| example.title),
            example,
            ..shown
        }
    }

    fn operation(&self, path: &'a str, method: &'a str, operation: &'a Value) -> Shown<'a> {
        let content = &operation["requestBody"]["content"];
        let body = entries(content).next().map_or(&Value::Null, |(_, body)| body);
        let (mut answers, mut refusals) = (Vec::new(), Vec::new());
        for (status, response) in entries(&operation["responses"]) {
            if status.starts_with(['4', '5']) {
                refusals.push(refusal(status, response));
            } else {
                answers.push(self.answer(status, response));
            }
        }
        let parameters = operation["parameters"].as_array().into_iter().flatten().map(|parameter| {
            let is_required = parameter["required"] == true;
            self.field(
                text(&parameter["name"]),
                &parameter["schema"],
                is_required,
                text(&parameter["description"]),
                true,
            )
        });
        let id = text(&operation["operationId"]);
        Shown {
            id: id.to_owned(),
            number: None,
            title: text(&operation["summary"]),
            operation: id,
            example: 0,
            method: method.to_uppercase(),
            path,
            text: text(&operation["description"]),
            is_visited: method == "get" && (id == "authorize" || is_page(operation)),
            proofs: self.proofs(operation),
            fields: parameters.chain(self.fields(&body["schema"], true)).collect(),
            encodings: entries(content).map(|(encoding, _)| encoding).collect(),
            examples: entries(&body["examples"])
                .map(|(_, example)| Example {
                    title: text(&example["summary"]),
                    text: pretty(&example["value"]),
                })
                .collect(),
            answers,
            refusals,
        }
    }

    /// The ways in which the sender can authenticate.
    fn proofs(&self, operation: &'a Value) -> Vec<Proof<'a>> {
        let ways = || operation["security"].as_array().into_iter().flatten();
        let is_optional = ways().any(|way| entries(way).next().is_none());
        let schemes = &self.document["components"]["securitySchemes"];
        ways()
            .flat_map(entries)
            .map(|(name, _)| Proof { text: text(&schemes[name]["description"]), is_optional })
            .collect()
    }

    fn answer(&self, status: &'a str, response: &'a Value) -> Answer<'a> {
        let bodies = entries(&response["content"]).map(|(media, content)| Body {
            media,
            fields: self.fields(&content["schema"], true),
            examples: examples(content).map(pretty).collect(),
        });
        Answer {
            status,
            text: text(&response["description"]),
            bodies: bodies.collect(),
            headers: headers_of(response),
        }
    }

    /// The fields of an object, the required ones first.
    fn fields(&self, schema: &'a Value, is_deep: bool) -> Vec<Field<'a>> {
        let schema = self.resolved(schema);
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().map(text).collect();
        let (first, second): (Vec<_>, Vec<_>) =
            entries(&schema["properties"]).partition(|(name, _)| required.contains(name));
        let fields = first.into_iter().map(|field| (field, true));
        fields
            .chain(second.into_iter().map(|field| (field, false)))
            .map(|((name, schema), is_required)| {
                let about = text(&self.resolved(schema)["description"]);
                self.field(name, schema, is_required, about, is_deep)
            })
            .collect()
    }

    /// A field. The page shows two levels.
    fn field(
        &self,
        name: &'a str,
        schema: &'a Value,
        is_required: bool,
        text: &'a str,
        is_deep: bool,
    ) -> Field<'a> {
        let schema = self.resolved(schema);
        let inner = schema.get("items").unwrap_or(schema);
        let fields = if is_deep { self.fields(inner, false) } else { Vec::new() };
        Field { name, facts: self.facts(schema, is_required), text, fields }
    }

    /// The type of a field and its limits.
    fn facts(&self, schema: &'a Value, is_required: bool) -> String {
        let values = self.resolved(schema.get("items").unwrap_or(schema))["enum"].as_array();
        let values: Vec<String> =
            values.into_iter().flatten().filter(|value| !value.is_null()).map(pretty).collect();
        let with_count = |key, limit: &Value| {
            let count = limit.as_u64()?;
            Some(fill(self.say(key), |name| (name == "count").then(|| count.to_string())))
        };
        let facts = [
            Some(self.kind(schema)),
            is_required.then(|| self.say("docs.required").to_owned()),
            (!values.is_empty())
                .then(|| fill(self.say("docs.one_of"), |name| (name == "values").then(|| values.join(", ")))),
            with_count("docs.at_most_characters", &schema["maxLength"]),
            with_count("docs.at_most", &schema["maxItems"]),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn kind(&self, schema: &'a Value) -> String {
        let schema = self.resolved(schema);
        let key = match schema["type"].as_str() {
            Some("array") => {
                let item = || self.kind(&schema["items"]);
                return fill(self.say("docs.list_of"), |name| (name == "type").then(item));
            }
            Some("string") => "docs.type_text",
            Some("integer") => "docs.type_number",
            Some("boolean") => "docs.type_boolean",
            Some("object") => "docs.type_object",
            Some(_) | None => "docs.type_any",
        };
        match schema["format"].as_str() {
            Some(format) if format != "int64" => format!("{} ({format})", self.say(key)),
            Some(_) | None => self.say(key).to_owned(),
        }
    }
}

/// A refusal. Its description repeats its cases, so it is shown only if there are none.
fn refusal<'a>(status: &'a str, response: &'a Value) -> Refusal<'a> {
    let description = text(&response["description"]);
    let (reason, rest) = description.split_once(':').unwrap_or((description, ""));
    let cases: Vec<_> = examples(&response["content"][JSON])
        .filter(|value| value["error_description"].is_string())
        .map(|value| Case { error: text(&value["error"]), text: text(&value["error_description"]) })
        .collect();
    Refusal {
        status,
        class: status.get(..1).unwrap_or_default(),
        reason,
        text: if cases.is_empty() { rest.trim() } else { "" },
        cases,
        headers: headers_of(response),
    }
}

/// Does it respond with a page? Pages are opened, not fetched.
fn is_page(operation: &Value) -> bool {
    let good = || entries(&operation["responses"]).filter(|(status, _)| status.starts_with('2'));
    let has = |media: &str| good().any(|(_, response)| response["content"].get(media).is_some());
    has(HTML) && !has(JSON)
}

fn headers_of(response: &Value) -> Vec<&str> {
    entries(&response["headers"])
        .map(|(name, _)| name)
        .filter(|name| !IN_EVERY_ANSWER.contains(name))
        .collect()
}

/// The values of the examples. OpenAPI has two places for them.
fn examples(content: &Value) -> impl Iterator<Item = &Value> {
    let many = entries(&content["examples"]).map(|(_, example)| &example["value"]);
    content.get("example").into_iter().chain(many)
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter).map(|(name, value)| (name.as_str(), value))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a text unchanged, and anything else as indented JSON.
fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{value:#}")
        }
    }
}

#[cfg(test)]
mod tests;
