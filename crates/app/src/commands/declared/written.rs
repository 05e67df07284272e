//! Writes what is there as a TOML file that declares it: sorted, and the same text each time. Fields with their
//! defaults are left out.

use std::io::{self, Write};

use countersign_domain::admission::Release;
use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::id::ClientId;
use countersign_domain::resource::Resource;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_operators::declared::export::{Exported, ExportedClient, ExportedGroup};
use countersign_ports::NamedPerson;
use countersign_usecases::clients::client_view::ClientView;
use serde_json::Value;

/// What `client show` shows and no file says, and what is written by hand.
const LEFT_OUT: [&str; 10] = [
    "client_id",
    "client_name",
    "response_types",
    "resources",
    "secret_mark",
    "document",
    "registered_by",
    "created_at",
    "scope",
    "jwks",
];
/// The longest list of scopes that is read from one text.
const LONGEST_SCOPE: usize = 512;

/// Writes the file.
pub(super) fn write(exported: &Exported, names_users: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# Written by `countersign export`. `countersign apply` makes what it declares (docs/declared.md)."
    )?;
    exported.groups.iter().try_for_each(|one| group(one, names_users, out))?;
    exported.people.iter().try_for_each(|one| person(one, names_users, out))?;
    exported.resources.iter().try_for_each(|one| resource(one, out))?;
    exported.clients.iter().try_for_each(|one| client(one, out))
}

fn group(group: &ExportedGroup, names_users: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n[[group]]")?;
    line("name", &text(group.name.as_str()), out)?;
    if let Some(title) = &group.title {
        line("title", &text(title.as_str()), out)?;
    }
    if names_users {
        list("users", group.users.iter().map(|user| text(&user.to_string())), out)?;
    }
    list("wallets", group.wallets.iter().map(wallet), out)
}

fn person(person: &NamedPerson, names_users: bool, out: &mut dyn Write) -> io::Result<()> {
    let kind = match &person.who {
        Subject::User(_) if !names_users => return Ok(()),
        Subject::User(_) => None,
        Subject::Wallet(account) => account.kind(),
    };
    writeln!(out, "\n[[person]]")?;
    line("who", &text(&person.who.to_string()), out)?;
    if let Some(kind) = kind {
        line("kind", &text(kind.name()), out)?;
    }
    line("name", &text(person.name.as_str()), out)
}

/// With its kind where a key and a contract can have the same address.
fn wallet(account: &WalletAccount) -> String {
    let name = text(&account.caip10());
    match account.kind() {
        Some(kind) => format!("{{ wallet = {name}, kind = {} }}", text(kind.name())),
        None => name,
    }
}

fn resource(resource: &Resource, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n[[resource]]")?;
    line("uri", &text(&resource.uri), out)?;
    if let Some(name) = &resource.name {
        line("name", &text(name.as_str()), out)?;
    }
    line("open_to", &text(resource.open_to.name()), out)?;
    for scope in &resource.scopes {
        writeln!(out, "\n[[resource.scopes]]")?;
        line("name", &text(scope.name.as_str()), out)?;
        line("title", &text(scope.title.as_str()), out)?;
        if !scope.titles.is_empty() {
            let titles = scope.titles.iter();
            let titles =
                titles.map(|(language, title)| format!("{} = {}", text(language), text(title.as_str())));
            line("titles", &format!("{{ {} }}", titles.collect::<Vec<_>>().join(", ")), out)?;
        }
        if let Some(group) = &scope.needs {
            line("needs", &text(group.as_str()), out)?;
        }
    }
    Ok(())
}

fn client(exported: &ExportedClient, out: &mut dyn Write) -> io::Result<()> {
    let ExportedClient { client, has_usual_resources } = exported;
    writeln!(out, "\n[[client]]")?;
    let name = &client.metadata.name;
    line("name", &text(name), out)?;
    if client.id != ClientId::of_name(name) {
        line("id", &text(&client.id.to_string()), out)?;
    }
    match &client.authentication {
        ClientAuthentication::Secret { .. } => writeln!(out, "# secret_file = \"…\"")?,
        ClientAuthentication::Keys | ClientAuthentication::Public => {}
    }
    if let Some(rule) = &client.access.rule {
        line("access", &text(&rule.to_string()), out)?;
    }
    match &client.access.release {
        Release::OfRule => {}
        release @ (Release::All | Release::Groups(_)) => line("release", &text(&release.to_string()), out)?,
    }
    if !has_usual_resources {
        line("resources", &format!("[{}]", joined(client.resources.iter().map(|uri| text(uri)))), out)?;
    }
    scopes(client, out)?;
    if let Some(jwks) = &client.metadata.display.jwks {
        line("jwks", &text(jwks), out)?;
    }
    for (field, value) in ClientView::of(client).into_iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
        match value {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(Value::Array(entries)) if entries.is_empty() => {}
            Some(value) => line(field, &written(&value), out)?,
        }
    }
    Ok(())
}

fn scopes(client: &Client, out: &mut dyn Write) -> io::Result<()> {
    let scopes = &client.metadata.scopes;
    let together = scopes.to_string();
    if scopes.is_empty() {
        // What a client gets that names none.
        line("scope", &text("profile"), out)
    } else if together.len() <= LONGEST_SCOPE {
        line("scope", &text(&together), out)
    } else {
        line("scopes", &format!("[{}]", joined(scopes.names().map(text))), out)
    }
}

fn line(field: &str, value: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{field} = {value}")
}

/// A list with a line for each entry; nothing if there are none.
fn list(field: &str, entries: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "{field} = [")?;
    entries.try_for_each(|entry| writeln!(out, "  {entry},"))?;
    writeln!(out, "]")
}

fn written(value: &Value) -> String {
    match value {
        Value::String(value) => text(value),
        Value::Array(entries) => format!("[{}]", joined(entries.iter().map(written))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn joined(entries: impl Iterator<Item = String>) -> String {
    entries.collect::<Vec<_>>().join(", ")
}

/// A text between quotes, on one line.
fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if countersign_domain::readable::is_hidden(character) => {
                let code = u32::from(character);
                quoted.push_str(&if code > 0xffff {
                    format!("\\U{code:08x}")
                } else {
                    format!("\\u{code:04x}")
                });
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_was_written() {
        for given in
            ["", "a \"b\" \\c", "é\n\t\0\u{7f}", "\u{202e}\u{10ffff}\u{e0001}x", "'''", "# no comment"]
        {
            let file = format!("a = {}", text(given));
            assert_eq!(file.lines().count(), 1, "{file:?}");
            let table: toml::Table = file.parse().unwrap();
            assert_eq!(table["a"].as_str(), Some(given));
        }
    }
}
