//! The pages: their templates, the texts in each language, and their scripts and styles. All of them are
//! embedded in the binary. A file in the operator's folder replaces ours.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use countersign_domain::redirect_uri::Destination;
use countersign_ports::{AddressHint, ContractChain, PageModule};
use rust_embed::RustEmbed;
use serde::Serialize;
use tera::{Context, Tera};

use crate::page::language::Language;
use crate::page::menu::Menu;
use crate::page::name::Name;

pub use assets::Asset;
pub(crate) use assets::SVG;
pub(crate) use outline::{Outlines, Place, Shape, Values};
pub use texts::fill;

mod assets;
mod folder;
mod lean;
mod outline;
mod texts;
mod written;

use assets::Assets;
use folder::{Folder, KnownNames};
use texts::Texts;
use written::write_in;

#[derive(RustEmbed)]
#[folder = "../../templates"]
struct Embedded;

/// The template that every page extends.
const FRAME: &str = "base.html";

/// What the names of the desk's pages begin with.
const DESK: &str = "desk-";

/// A page, a text or an asset cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A template does not compile or does not render.
    #[error("template: {0}")]
    Template(#[from] tera::Error),
    /// The operator's folder cannot be read.
    #[error("template_directory: {path} cannot be read")]
    Folder {
        /// The file or folder.
        path: String,
        /// Why it cannot be read.
        #[source]
        source: io::Error,
    },
    /// A file in the operator's folder must not be published.
    #[error("template_directory: {path} {reason}")]
    Refused {
        /// What was found.
        path: String,
        /// Why it is refused.
        reason: &'static str,
    },
    /// A page in the operator's folder is from an older release, and its forms would be refused.
    #[error("template_directory: {file} {reason} (docs/pages.md)")]
    Outdated {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file with texts is invalid.
    #[error("texts: {path}: {reason}")]
    Texts {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A script has an import that cannot be resolved.
    #[error("assets: {0}")]
    Import(String),
}

/// What all pages of one server have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// Our own host, as people see it in their browser.
    pub(crate) host: &'a str,
    /// The path of the public URL. All our paths begin with it.
    pub(crate) base: &'a str,
    /// What is switched on.
    pub(crate) features: Features,
    /// What addresses look like, as the wallet families describe them.
    pub(crate) address_hints: &'a [AddressHint],
    pub(crate) contract_chains: &'a [ContractChain],
}

/// What is switched on. The links and the banner of every page depend on it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Features {
    pub(crate) account: bool,
    pub(crate) playground: bool,
    /// Is there a desk? Its pages are compiled only then.
    pub(crate) desk: bool,
    pub(crate) dev: bool,
    /// Is the server there to be tried out, with `serve --dev` or because only its own machine reaches it?
    /// Then every page links to what developers need. Customers do not need that.
    pub(crate) trial: bool,
}

/// The templates, the texts, and the assets by their hashed names.
pub struct Templates {
    pages: Vec<(String, String)>,
    /// Which pages are the operator's.
    replaced: BTreeSet<String>,
    /// The part of the context that is the same for all pages.
    shared: Context,
    /// The templates of each language, compiled when a page is first shown in it.
    compiled: BTreeMap<Language, OnceLock<Tera>>,
    texts: Texts,
    assets: Assets,
    /// The path of each asset, by its variable in templates.
    paths: BTreeMap<String, String>,
}

/// An entry of the language menu.
#[derive(Serialize)]
struct Choice {
    tag: &'static str,
    name: &'static str,
    direction: &'static str,
}

/// What addresses of one kind look like.
#[derive(Serialize)]
struct Look<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct NamedChain<'a> {
    chain: &'a str,
    name: &'a str,
}

impl Templates {
    /// Loads everything. Files in the operator's folder replace ours. The script of a wallet family is the
    /// asset `wallet-NAME.js`.
    pub(crate) fn load(
        folder: Option<&Path>,
        site: Site<'_>,
        modules: &[PageModule],
    ) -> Result<Self, TemplateError> {
        Self::with(&Folder::read(folder)?, site, modules)
    }

    fn with(folder: &Folder, site: Site<'_>, modules: &[PageModule]) -> Result<Self, TemplateError> {
        let mut pages = Vec::new();
        let mut replaced = BTreeSet::new();
        let mut sources = BTreeMap::new();
        let is_wanted = |file: &str| site.features.desk || !file.starts_with(DESK);
        for file in Embedded::iter().filter(|file| !file.starts_with(texts::FOLDER) && is_wanted(file)) {
            let theirs = folder.replacement(&file);
            let is_theirs = theirs.is_some();
            let ours = || Embedded::get(&file).map(|file| file.data);
            let Some(bytes) = theirs.or_else(ours) else { continue };
            match file.strip_prefix(assets::FOLDER) {
                None => {
                    let page = String::from_utf8_lossy(&bytes).into_owned();
                    if is_theirs {
                        refuse_outdated(&file, &page)?;
                    }
                    pages.push((file.to_string(), if is_theirs { page } else { lean::page(&file, page) }));
                    replaced.extend(is_theirs.then(|| file.to_string()));
                }
                Some(name) => {
                    let bytes = if is_theirs { bytes } else { lean::asset(name, bytes) };
                    sources.insert(name.to_owned(), bytes);
                }
            }
        }
        let module_names: Vec<String> =
            modules.iter().map(|module| format!("wallet-{}.js", module.name)).collect();
        for (name, bytes) in folder.assets().filter(|(name, _)| !module_names.iter().any(|own| own == name)) {
            sources.entry(name.to_owned()).or_insert_with(|| Cow::Owned(bytes.to_vec()));
        }
        let named: Vec<String> = sources.keys().cloned().collect();
        for (PageModule { source, .. }, name) in modules.iter().zip(&module_names) {
            let replaced = folder.replacement(&format!("{}{name}", assets::FOLDER));
            sources.insert(name.clone(), replaced.unwrap_or(Cow::Borrowed(source.as_bytes())));
        }
        let assets = Assets::build(&sources)?;
        let path = |name: &String| format!("{}/assets/{}", site.base, assets.hashed_name(name));
        let mut paths = BTreeMap::new();
        for name in &named {
            if paths.insert(variable(name), path(name)).is_some() {
                let variable = variable(name);
                return Err(TemplateError::Import(format!(
                    "{name}: another file is `assets.{variable}` already"
                )));
            }
        }
        let wallet_modules: Vec<String> = module_names.iter().map(path).collect();

        let mut shared = Context::new();
        shared.insert("assets", &paths);
        shared.insert("wallet_modules", &wallet_modules);
        shared.insert("base", site.base);
        shared.insert("host", site.host);
        shared.insert("features", &site.features);
        shared.insert("languages", &Language::ALL.map(Choice::of));
        let looks: Vec<_> = site
            .address_hints
            .iter()
            .map(|AddressHint { kind, look }| Look { name: kind, text: look })
            .collect();
        shared.insert("address_hints", &looks);
        let chains: Vec<_> = site
            .contract_chains
            .iter()
            .map(|ContractChain { chain, name }| NamedChain { chain, name })
            .collect();
        shared.insert("contract_chains", &chains);
        let compiled = Language::ALL.into_iter().map(|language| (language, OnceLock::new())).collect();
        let templates =
            Self { pages, replaced, shared, compiled, texts: Texts::load(folder)?, assets, paths };
        // A template that does not compile fails in every language, so trying one is enough. Ours are tested,
        // and compiled later, because compiled templates take memory that an idle server does not need.
        if !folder.is_empty() {
            templates.compiled(Language::English)?;
        }
        Ok(templates)
    }

    /// The templates of a language, compiled on the first call.
    fn compiled(&self, language: Language) -> Result<&Tera, TemplateError> {
        let unknown = || TemplateError::Template(tera::Error::message("a language without templates"));
        let place = self.compiled.get(&language).ok_or_else(unknown)?;
        if let Some(compiled) = place.get() {
            return Ok(compiled);
        }
        let compiled = self.compile(language)?;
        Ok(place.get_or_init(|| compiled))
    }

    fn compile(&self, language: Language) -> Result<Tera, TemplateError> {
        let mut tera = Tera::default();
        tera.autoescape_on(vec![".html"]);
        texts::register_filters(&mut tera);
        let Choice { tag, direction, .. } = Choice::of(language);
        let context = tera.global_context();
        context.extend(self.shared.clone());
        context.insert("language", tag);
        context.insert("direction", direction);
        context.insert("t", self.texts.tree(language));
        let written: Vec<_> =
            self.pages.iter().map(|(name, source)| (name.as_str(), write_in(source, &tera))).collect();
        tera.add_raw_templates(written.iter().map(|(name, text)| (*name, text.as_str())))?;
        Ok(tera)
    }

    /// Renders a page in a language.
    pub(crate) fn render(
        &self,
        language: Language,
        name: Name,
        menu: Option<&Menu>,
        page: &impl Serialize,
    ) -> Result<String, TemplateError> {
        let mut context = Context::from_serialize(page)?;
        context.insert("menu", &menu);
        Ok(self.compiled(language)?.render(name.file(), &context)?)
    }

    /// Does a template of the operator's make this page?
    fn is_replaced(&self, name: Name) -> bool {
        [FRAME, name.file()].into_iter().any(|file| self.replaced.contains(file))
    }

    /// Where a sign-in leads, in words. The text that a wallet signs says it in English.
    pub(crate) fn destination(&self, language: Language, destination: &Destination) -> String {
        let (key, place, value) = match destination {
            Destination::Host(authority) => return authority.clone(),
            Destination::ThisComputer(authority) => ("common.this_computer", "host", authority),
            Destination::App(scheme) => ("common.this_device", "name", scheme),
            Destination::Device(code) => ("common.other_device", "code", code),
        };
        fill(self.text(language, key), |name| (name == place).then(|| value.clone()))
    }

    /// A text by its area and key, like `error.broken.title`. If there is no such text, this returns the key.
    pub fn text<'a>(&'a self, language: Language, key: &'a str) -> &'a str {
        self.texts.get(language, key).unwrap_or(key)
    }

    /// Finds an asset by its hashed name.
    pub fn asset(&self, hashed: &str) -> Option<&Asset> {
        self.assets.get(hashed)
    }

    /// Finds an asset by its plain name.
    pub(crate) fn asset_of(&self, name: &str) -> Option<&Asset> {
        self.assets.get(self.assets.hashed_name(name))
    }
}

impl Choice {
    fn of(language: Language) -> Self {
        let direction = if language.is_rtl() { "rtl" } else { "ltr" };
        Self { tag: language.tag(), name: language.own_name(), direction }
    }
}

/// The pages whose forms have a secret ([`crate::browser::forms`]).
const WITH_SECRETS: [&str; 9] = [
    "account.html",
    "account-email.html",
    "account-wallet.html",
    "auth.html",
    "desk-change.html",
    "desk-form.html",
    "desk-proposal.html",
    "device.html",
    "logout.html",
];

/// Refuses a page of the operator's if we would refuse its forms. It is better to find out at the start than
/// when a user presses a button.
fn refuse_outdated(file: &str, page: &str) -> Result<(), TemplateError> {
    let page = page.to_ascii_lowercase();
    let outdated = |reason| Err(TemplateError::Outdated { file: file.to_owned(), reason });
    if WITH_SECRETS.contains(&file) && page.contains("method=\"post\"") && !page.contains("name=\"form\"") {
        return outdated(
            "posts forms without their secret: add the hidden fields `form` of this release's template",
        );
    }
    if page.contains("name=\"referrer\" content=\"no-referrer\"") {
        return outdated(
            "forbids a referrer, so that browsers hide where its forms come from: write content=\"same-origin\"",
        );
    }
    Ok(())
}

/// Reads an operator's folder as the server does at start. The returned warnings do not stop the server.
pub fn check_templates(folder: &Path, modules: &[PageModule]) -> Result<Vec<String>, TemplateError> {
    let folder = Folder::read(Some(folder))?;
    let features = Features { account: true, playground: true, desk: true, dev: false, trial: true };
    let site = Site { host: "", base: "", features, address_hints: &[], contract_chains: &[] };
    let templates = Templates::with(&folder, site, modules)?;
    let known = KnownNames { texts: templates.texts.tree(Language::English), assets: &templates.paths };
    Ok(folder.doubts(modules, &known))
}

/// The embedded files with their paths. A file with the same path in an operator's folder replaces one.
pub fn embedded_templates() -> impl Iterator<Item = (String, Cow<'static, [u8]>)> {
    Embedded::iter().filter_map(|path| Some((path.to_string(), Embedded::get(&path)?.data)))
}

/// `auth.js` is `assets.auth_js` in templates; the stylesheet of all pages and the logo have short names.
fn variable(name: &str) -> String {
    match name {
        "countersign.css" => "css".to_owned(),
        "logo.svg" => "logo".to_owned(),
        _ => name.replace(['.', '-'], "_"),
    }
}

#[cfg(test)]
mod tests;
