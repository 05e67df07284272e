//! The forms of a page, as a browser reads them: the hidden fields, and among them the page's secret.

use crate::http::Parameters;

/// A form of a page.
#[derive(Clone, Debug)]
pub struct Form {
    /// The URL that the form is sent to.
    pub action: String,
    /// The hidden fields of the form.
    pub hidden: Parameters,
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
            Some(Form { action: attribute(head, "action")?, hidden: Parameters(hidden.collect()) })
        })
        .collect()
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
    let value = rest.split('"').next()?;
    let entities = [
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2F;", "/"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    Some(entities.into_iter().fold(value.to_owned(), |text, (entity, plain)| text.replace(entity, plain)))
}
