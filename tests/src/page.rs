//! The forms of a page, as a browser reads them: their fields, and among the hidden ones the page's secret.

use crate::http::Parameters;

/// A form of a page.
#[derive(Clone, Debug)]
pub struct Form {
    /// The URL that the form is sent to.
    pub action: String,
    /// The hidden fields of the form.
    pub hidden: Parameters,
    /// Everything that a browser sends if nobody touches the form, in order.
    pub untouched: Parameters,
}

/// All forms of a page with method POST, in order.
pub fn forms(html: &str) -> Vec<Form> {
    let forms = html.split("<form ").skip(1).map(|rest| rest.split("</form>").next().unwrap_or_default());
    forms
        .filter_map(|form| {
            let (head, body) = form.split_once('>')?;
            head.contains("method=\"post\"").then_some(())?;
            let hidden = body.split("<input type=\"hidden\" ").skip(1).filter_map(|input| {
                let input = input.split_once('>')?.0;
                Some((attribute(input, "name")?, attribute(input, "value")?))
            });
            Some(Form {
                action: attribute(head, "action")?,
                hidden: Parameters(hidden.collect()),
                untouched: Parameters(controls(body)),
            })
        })
        .collect()
}

/// The fields of a form as the page filled them in.
fn controls(body: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in body.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { continue };
        let is_one_of = |kinds: &[&str]| kinds.contains(&attribute(tag, "type").unwrap_or_default().as_str());
        let name = attribute(tag, "name");
        if tag.starts_with("input ") {
            let is_off = is_one_of(&["checkbox", "radio"]) && !tag.contains(" checked");
            let value = attribute(tag, "value");
            if let (Some(name), false) = (name, is_off || is_one_of(&["submit", "button"])) {
                found.push((name, value.unwrap_or_default()));
            }
        } else if let (Some(name), true) = (&name, tag.starts_with("textarea")) {
            found.push((name.clone(), plain(text)));
        } else if let (Some(name), true) = (name, tag.starts_with("select")) {
            let rest = &body[body.find(part).unwrap_or_default()..];
            let options = rest.split("</select>").next().unwrap_or_default();
            let options: Vec<&str> = options.split("<option ").skip(1).collect();
            let chosen = options.iter().find(|option| option.contains(" selected")).or(options.first());
            found.extend(chosen.and_then(|option| Some((name, attribute(option, "value")?))));
        }
    }
    found
}

/// The secret of the form that is sent to this path and has these values in its hidden fields.
pub fn secret(html: &str, path: &str, with: &[(&str, &str)]) -> Option<String> {
    let has = |form: &Form, (name, value): &(&str, &str)| {
        form.hidden.0.iter().any(|(field, found)| field == name && found == value)
    };
    let form = forms(html)
        .into_iter()
        .find(|form| form.action.ends_with(path) && with.iter().all(|pair| has(form, pair)))?;
    form.hidden.0.into_iter().find(|(name, _)| name == "form").map(|(_, value)| value)
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = format!("{name}=\"");
    let rest = tag
        .strip_prefix(start.as_str())
        .or_else(|| tag.split_once(&format!(" {start}")).map(|(_, rest)| rest))?;
    rest.split('"').next().map(plain)
}

/// A text of the page with the template's escapes undone.
fn plain(text: &str) -> String {
    let entities = [
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2F;", "/"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    entities.into_iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}
