//! Turns the JSON members of what others signed into claims.

use std::collections::BTreeMap;

use countersign_domain::claims::{Claim, Claims};
use serde_json::{Map, Number, Value};

/// The members of an object as claims.
pub(super) fn claims(object: Map<String, Value>) -> Claims {
    Claims::new(object.into_iter().map(|(name, value)| (name, claim(value))).collect::<BTreeMap<_, _>>())
}

fn claim(value: Value) -> Claim {
    match value {
        Value::String(text) => Claim::Text(text),
        Value::Number(number) => seconds(&number).map_or(Claim::Other, Claim::Number),
        Value::Array(values) => {
            let texts: Option<Vec<String>> = values
                .into_iter()
                .map(|value| if let Value::String(text) = value { Some(text) } else { None })
                .collect();
            texts.map_or(Claim::Other, Claim::Texts)
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => Claim::Other,
    }
}

/// Some libraries write times with fractions.
fn seconds(number: &Number) -> Option<i64> {
    /// Up to here every whole number is exact, and every time is far below.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| {
        let number = number.as_f64().filter(|number| number.abs() < EXACT)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the number is in the exact range, and its fraction is cut off"
        )]
        let seconds = number.floor() as i64;
        Some(seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_strict_json::object;

    #[test]
    fn claims_keep_what_is_understood() {
        let read = claims(
            object(br#"{"a":"x","b":["x","y"],"c":1.9,"d":-1.5,"e":1e300,"f":["x",1],"g":null}"#).unwrap(),
        );
        let expected = [
            ("a", Claim::Text("x".to_owned())),
            ("b", Claim::Texts(vec!["x".to_owned(), "y".to_owned()])),
            ("c", Claim::Number(1)),
            ("d", Claim::Number(-2)),
            ("e", Claim::Other),
            ("f", Claim::Other),
            ("g", Claim::Other),
        ];
        let expected = expected.into_iter().map(|(name, claim)| (name.to_owned(), claim));
        assert_eq!(read, Claims::new(expected.collect()));
    }
}
