//! Pages and assets: embedded in the binary, each replaceable by a file in the operator's folder.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use actix_web::web::Bytes;
use countersign_ports::PageModule;
use rust_embed::RustEmbed;
use serde::Serialize;
use tera::{Context, Tera};

#[derive(RustEmbed)]
#[folder = "../../templates"]
struct Embedded;

/// The pages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    Auth,
    Continue,
    Docs,
    Error,
    Home,
}

impl Name {
    const fn file(self) -> &'static str {
        match self {
            Self::Auth => "auth.html",
            Self::Continue => "continue.html",
            Self::Docs => "docs.html",
            Self::Error => "error.html",
            Self::Home => "home.html",
        }
    }
}

/// A page or an asset cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A template does not compile or does not render.
    #[error("template: {0}")]
    Template(#[from] tera::Error),
    /// The operator's folder cannot be read.
    #[error("template_directory: {path} cannot be read")]
    Folder {
        /// What was read.
        path: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// The compiled templates and the assets by their hashed names.
pub(crate) struct Templates {
    tera: Tera,
    assets: BTreeMap<String, Asset>,
    paths: BTreeMap<String, String>,
    /// The scripts that the wallet families bring for the sign-in page.
    wallet_modules: Vec<String>,
    /// The public URL's own path, before every path of ours.
    base: String,
}

pub(crate) struct Asset {
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Bytes,
}

/// What the error page says.
#[derive(Serialize)]
pub(crate) struct ErrorPage<'a> {
    pub(crate) status: u16,
    pub(crate) error: &'a str,
    pub(crate) description: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) host: &'a str,
}

/// What the page between us and the client says.
#[derive(Serialize)]
pub(crate) struct ContinuePage<'a> {
    pub(crate) host: &'a str,
    pub(crate) target: &'a str,
    pub(crate) destination: &'a str,
    pub(crate) denied: bool,
}

impl Templates {
    /// Compiles everything; whatever the operator's folder has takes the place of ours. The script of a wallet family is
    /// the asset `wallet-NAME.js`.
    pub(crate) fn load(
        folder: Option<&Path>,
        base: &str,
        modules: &[PageModule],
    ) -> Result<Self, TemplateError> {
        let mut pages = Vec::new();
        let mut assets = BTreeMap::new();
        let mut paths = BTreeMap::new();
        for file in Embedded::iter() {
            let Some(bytes) = content(&file, folder)? else { continue };
            match file.strip_prefix("assets/") {
                None => pages.push((file.to_string(), String::from_utf8_lossy(&bytes).into_owned())),
                Some(name) => {
                    let hashed = add(&mut assets, name, bytes);
                    paths.insert(variable(name), format!("{base}/assets/{hashed}"));
                }
            }
        }
        let mut wallet_modules = Vec::new();
        for PageModule { name, source } in modules {
            let name = format!("wallet-{name}.js");
            let ours = Cow::Borrowed(source.as_bytes());
            let bytes = replacement(&format!("assets/{name}"), folder)?.unwrap_or(ours);
            wallet_modules.push(format!("{base}/assets/{}", add(&mut assets, &name, bytes)));
        }
        let mut tera = Tera::default();
        tera.autoescape_on(vec![".html"]);
        tera.add_raw_templates(pages.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
        Ok(Self { tera, assets, paths, wallet_modules, base: base.to_owned() })
    }

    /// Renders a page.
    pub(crate) fn render(&self, name: Name, page: &impl Serialize) -> Result<String, TemplateError> {
        let mut context = Context::from_serialize(page)?;
        context.insert("assets", &self.paths);
        context.insert("wallet_modules", &self.wallet_modules);
        context.insert("base", &self.base);
        Ok(self.tera.render(name.file(), &context)?)
    }

    /// Finds an asset by its hashed name.
    pub(crate) fn asset(&self, hashed: &str) -> Option<&Asset> {
        self.assets.get(hashed)
    }

    /// Finds an asset by its plain name.
    pub(crate) fn asset_of(&self, name: &str) -> Option<&Asset> {
        let path = self.paths.get(&variable(name))?;
        self.assets.get(path.rsplit('/').next()?)
    }
}

fn content(file: &str, folder: Option<&Path>) -> Result<Option<Cow<'static, [u8]>>, TemplateError> {
    Ok(replacement(file, folder)?.or_else(|| Embedded::get(file).map(|file| file.data)))
}

/// What the operator's folder has in place of our file.
fn replacement(file: &str, folder: Option<&Path>) -> Result<Option<Cow<'static, [u8]>>, TemplateError> {
    let Some(folder) = folder else { return Ok(None) };
    let path = folder.join(file);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(Some(Cow::Owned(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TemplateError::Folder { path: path.display().to_string(), source }),
    }
}

/// Keeps an asset and gives its hashed name.
fn add(assets: &mut BTreeMap<String, Asset>, name: &str, bytes: Cow<'static, [u8]>) -> String {
    let hashed = hashed_name(name, &bytes);
    let bytes = Bytes::from(bytes.into_owned());
    assets.insert(hashed.clone(), Asset { content_type: content_type(name), bytes });
    hashed
}

/// `auth.js` becomes `auth.0123456789abcdef.js`.
fn hashed_name(name: &str, bytes: &[u8]) -> String {
    // FNV-1a: the hash only has to change with the content; nobody gains from a collision of our own files.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}.{hash:016x}.{ending}"),
        None => format!("{name}.{hash:016x}"),
    }
}

/// `auth.js` is `assets.auth_js` in templates; the one stylesheet and the logo have short names.
fn variable(name: &str) -> String {
    match name {
        "countersign.css" => "css".to_owned(),
        "logo.svg" => "logo".to_owned(),
        _ => name.replace(['.', '-'], "_"),
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests;
