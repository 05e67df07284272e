//! The forms that begin a change: one for each act, with what [`super::asking`] says of its fields. The same form is on
//! the page of its subject, and again where a change was refused, with what was typed.

use countersign_domain::act::{ActName, Second};
use countersign_domain::desk::operators::DeskPolicy;
use countersign_domain::group::GroupName;
use serde::Serialize;

use super::asking::{APPLICATION, APPLICATION_URL, GROUP, RULE, RULE_GROUPS, inputs_of};
use super::field::{Field, Input, Kind};
use super::sent::{Sent, Wrong};
use crate::settings::Applications;

/// What a form asks first, whatever the order in the text: what everyone can answer, and then what has no usual answer.
const FIRST: [&str; 4] = [APPLICATION.name, APPLICATION_URL.name, RULE.name, RULE_GROUPS.name];

/// A form.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Form {
    /// Its id in the page.
    id: String,
    /// The name of the change, and the key of its text.
    change: &'static str,
    key: String,
    /// What it is about, where a page has several of a kind.
    about: Option<String>,
    /// Must a second operator sign it too?
    second: bool,
    /// The same if it is about an operator.
    #[serde(skip)]
    second_of_operator: bool,
    /// Are its fields shown from the beginning?
    open: bool,
    has_fields: bool,
    has_more: bool,
    fields: Vec<Field>,
}

/// Makes the forms of a page.
#[derive(Clone, Copy)]
pub(super) struct Forms<'a> {
    pub(super) applications: &'a dyn Applications,
    /// Who the operators are.
    pub(super) policy: Option<&'a DeskPolicy>,
    /// The act whose form is open, because a menu led to it.
    pub(super) wanted: Option<ActName>,
}

/// The key of an act's text.
pub(super) fn key_of(name: ActName) -> String {
    name.word().replace('-', "_")
}

impl Forms<'_> {
    /// The form of a change on a page that knows these values. What it knows of what must be said, no one types.
    pub(super) fn form(self, name: ActName, known: &Sent) -> Form {
        self.filled(name, known, false)
    }

    /// The form of a change once more, with all that was sent, what else is asked for, and what is wrong.
    pub(super) fn form_again(self, name: ActName, sent: &Sent, more: Option<Input>, wrong: &[Wrong]) -> Form {
        let mut form = self.filled(name, sent, true);
        form.has_fields |= more.is_some();
        form.fields.extend(more.map(|input| Field::of(input, sent, self.applications)));
        for field in &mut form.fields {
            let found = wrong.iter().find(|wrong| wrong.name == field.input.name);
            field.wrong = found.map(|wrong| wrong.why.clone());
            // What is wrong is never folded.
            field.input.more &= found.is_none();
        }
        form
    }

    fn filled(self, name: ActName, sent: &Sent, again: bool) -> Form {
        let fields = name.row().fields.iter().flat_map(|field| {
            let inputs = inputs_of(*field);
            let is_known = |first: &Input| first.required && sent.one(first.name).is_some();
            let hides = !again && inputs.first().is_some_and(is_known);
            inputs.into_iter().map(move |input| if hides { input.hidden() } else { input })
        });
        let mut fields: Vec<_> = fields.map(|input| Field::of(input, sent, self.applications)).collect();
        fields.sort_by_key(|field| {
            FIRST.iter().position(|first| *first == field.input.name).unwrap_or(FIRST.len())
        });
        Form {
            id: format!("change-{name}"),
            change: name.word(),
            key: key_of(name),
            about: None,
            second: self.surely_needs_second(name, sent),
            second_of_operator: self.policy.is_some_and(|policy| name.may_need_second(policy))
                && name.row().second == Second::AboutOperator,
            open: again || self.wanted == Some(name),
            has_fields: fields.iter().any(|field| field.input.kind != Kind::Hidden),
            has_more: fields.iter().any(|field| field.input.more),
            fields,
        }
    }

    /// Will a second operator have to sign it, as far as the page knows?
    fn surely_needs_second(self, name: ActName, sent: &Sent) -> bool {
        let Some(policy) = self.policy.filter(|policy| name.may_need_second(policy)) else { return false };
        match name.row().second {
            Second::Always => true,
            Second::OperatorsGroup => {
                let group = policy.group.as_ref().map(GroupName::as_str);
                group.is_some() && sent.one(GROUP.name) == group
            }
            Second::Never | Second::AboutOperator | Second::LetsEveryoneIn => false,
        }
    }
}

impl Form {
    /// Names what it is about, and gives it an id of its own.
    pub(super) fn numbered(self, number: usize, about: &str) -> Self {
        Self { id: format!("{}-{number}", self.id), about: Some(about.to_owned()), ..self }
    }

    /// Says whether it is about an operator.
    pub(super) fn of_operator(self, is_operator: bool) -> Self {
        Self { second: self.second || (self.second_of_operator && is_operator), ..self }
    }

    #[cfg(test)]
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }
}
