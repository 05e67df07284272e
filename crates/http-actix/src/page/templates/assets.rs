//! Scripts and styles, under names that contain a hash of their content, so that browsers can keep them
//! forever. The imports in a script are rewritten to the hashed names. An asset is compressed once, when it
//! is first requested, if that makes it smaller.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::OnceLock;

use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::TemplateError;

/// Pictures of this type can contain scripts.
pub(crate) const SVG: &str = "image/svg+xml";

/// A script, a style or a picture.
#[derive(Debug)]
pub struct Asset {
    pub content_type: &'static str,
    pub bytes: Bytes,
    gzip: OnceLock<Option<Bytes>>,
}

impl Asset {
    pub const fn new(content_type: &'static str, bytes: Bytes) -> Self {
        Self { content_type, bytes, gzip: OnceLock::new() }
    }

    /// The content, compressed by gzip, if that is smaller.
    pub(crate) fn gzip(&self) -> Option<&Bytes> {
        self.gzip.get_or_init(|| gzip(&self.bytes)).as_ref()
    }
}

/// Where the assets are, in the binary and in the operator's folder.
pub(super) const FOLDER: &str = "assets/";

#[derive(Default)]
pub(super) struct Assets {
    by_hashed_name: BTreeMap<String, Asset>,
    hashed_names: BTreeMap<String, String>,
}

type Sources = BTreeMap<String, Cow<'static, [u8]>>;

impl Assets {
    /// Builds the assets from files by their plain names.
    pub(super) fn build(sources: &Sources) -> Result<Self, TemplateError> {
        let mut this = Self::default();
        for name in sources.keys() {
            this.add(name, sources, &mut Vec::new())?;
        }
        Ok(this)
    }

    pub(super) fn get(&self, hashed_name: &str) -> Option<&Asset> {
        self.by_hashed_name.get(hashed_name)
    }

    /// The hashed name of a file. It is empty, and so names no asset, if there is no such file.
    pub(super) fn hashed_name(&self, name: &str) -> &str {
        self.hashed_names.get(name).map_or("", String::as_str)
    }

    /// Adds a file after everything that it imports, because its own hash depends on their names. `importers`
    /// are the files that wait for this one.
    fn add(
        &mut self,
        name: &str,
        sources: &Sources,
        importers: &mut Vec<String>,
    ) -> Result<String, TemplateError> {
        if let Some(hashed_name) = self.hashed_names.get(name) {
            return Ok(hashed_name.clone());
        }
        let importer = importers.last().map_or("no one", String::as_str);
        let Some(source) = sources.get(name) else {
            return Err(TemplateError::Import(format!("{importer} imports ./{name}, which is not an asset")));
        };
        if importers.iter().any(|waiting| waiting == name) {
            let circle = format!("{} -> {name}", importers.join(" -> "));
            return Err(TemplateError::Import(format!("scripts import each other in a circle: {circle}")));
        }
        let bytes = match std::str::from_utf8(source) {
            Ok(script) if name.ends_with(".js") => {
                importers.push(name.to_owned());
                let rewritten = with_imports(script, |import| self.add(import, sources, importers))?;
                importers.pop();
                Bytes::from(rewritten)
            }
            Ok(sheet) if name.ends_with(".css") => {
                importers.push(name.to_owned());
                let rewritten = with_urls(sheet, |import| self.add(import, sources, importers))?;
                importers.pop();
                Bytes::from(rewritten)
            }
            Ok(_) | Err(_) => Bytes::copy_from_slice(source),
        };
        let hashed_name = hashed_name(name, &bytes);
        let asset = Asset::new(content_type(name), bytes);
        self.by_hashed_name.insert(hashed_name.clone(), asset);
        self.hashed_names.insert(name.to_owned(), hashed_name.clone());
        Ok(hashed_name)
    }
}

/// Renames a script's imports: in `from "./NAME"`, `import "./NAME"` and `import("./NAME")`.
fn with_imports(
    script: &str,
    mut rename: impl FnMut(&str) -> Result<String, TemplateError>,
) -> Result<String, TemplateError> {
    const START: &str = "./";
    let mut written = String::with_capacity(script.len());
    let mut rest = script;
    while let Some((before, after)) = rest.split_once(START) {
        written.push_str(before);
        written.push_str(START);
        rest = after;
        let quote = before.chars().next_back().filter(|last| matches!(last, '"' | '\''));
        let Some(quote) = quote else { continue };
        let imports = before.strip_suffix(quote).is_some_and(ends_in_import);
        if let Some((name, _)) = after.split_once(quote).filter(|_| imports) {
            written.push_str(&rename(name)?);
            rest = after.strip_prefix(name).unwrap_or_default();
        }
    }
    written.push_str(rest);
    Ok(written)
}

fn ends_in_import(script: &str) -> bool {
    let script = script.trim_end();
    script.ends_with("from")
        || script.ends_with("import")
        || script.strip_suffix('(').is_some_and(|script| script.trim_end().ends_with("import"))
}

/// Renames what a style sheet loads with `url("./NAME")`, in either quotes or none.
fn with_urls(
    sheet: &str,
    mut rename: impl FnMut(&str) -> Result<String, TemplateError>,
) -> Result<String, TemplateError> {
    const START: &str = "url(";
    let mut written = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some((before, after)) = rest.split_once(START) {
        written.push_str(before);
        written.push_str(START);
        rest = after;
        let quote = ['"', '\''].into_iter().find(|quote| rest.starts_with(*quote));
        let Some(path) = rest.trim_start_matches(['"', '\'']).strip_prefix("./") else { continue };
        let Some((name, after)) = path.split_once(quote.unwrap_or(')')) else { continue };
        written.extend(quote);
        written.push_str("./");
        written.push_str(&rename(name)?);
        written.push(quote.unwrap_or(')'));
        rest = after;
    }
    written.push_str(rest);
    Ok(written)
}

/// `auth.js` becomes `auth.0123456789abcdef.js`.
fn hashed_name(name: &str, bytes: &[u8]) -> String {
    // FNV-1a is enough: the hash only has to change with the content, and a collision between our own files
    // helps no attacker.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}.{hash:016x}.{ending}"),
        None => format!("{name}.{hash:016x}"),
    }
}

fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish()).ok()?;
    (compressed.len() < bytes.len()).then(|| Bytes::from(compressed))
}

fn content_type(name: &str) -> &'static str {
    known_content_type(name).unwrap_or("application/octet-stream")
}

/// Only what the Content-Security-Policy lets pages load: scripts, styles and pictures, but no fonts.
pub(super) fn known_content_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => SVG,
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
