//! A digest of what the engine computes: of its sources' tokens, not of their text.
//!
//! Comments, documentation, layout and tests do not count; every other token does, and so do the
//! data files that the sources include and the versions of all dependencies.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use sha2::{Digest, Sha256};

/// Crates that no result depends on: a debugger's server, and what build scripts use.
const WITHOUT: [&str; 3] = ["debug", "found", "meaning"];

/// Digest the sources of all crates in a folder, and a lock file's packages.
///
/// # Errors
/// A file cannot be read or parsed; the text names it.
pub fn of_engine(crates: &Path, lock: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    for folder in children(crates)? {
        if !WITHOUT.iter().any(|name| folder.ends_with(name)) {
            collect(&folder.join("src"), &mut files)?;
        }
    }
    let mut digest = Sha256::new();
    for file in files {
        let text = read(&file)?;
        let name = file.strip_prefix(crates).unwrap_or(&file).to_string_lossy();
        let meaning = if file.extension().is_some_and(|e| e == "rs") {
            of_source(&text).map_err(|error| format!("{}: {error}", file.display()))?
        } else {
            table(&file, &text)?.to_string()
        };
        digest.update(format!("{name}\0{meaning}\0"));
    }
    digest.update(packages(lock)?);
    let mut text = String::new();
    for byte in digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Render a Rust source's tokens, without those that compute nothing.
///
/// # Errors
/// It is not Rust.
pub fn of_source(text: &str) -> Result<String, String> {
    let tokens = TokenStream::from_str(text).map_err(|error| error.to_string())?;
    let mut out = String::new();
    render(tokens, false, &mut out);
    Ok(out)
}

fn render(tokens: TokenStream, is_tuple: bool, out: &mut String) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((attribute, after)) = attribute(&tokens[at..]) {
            let is_test = attribute == "cfg (test)";
            if is_test || attribute.starts_with("doc ") {
                at += after;
                if is_test {
                    at += item(&tokens[at..]);
                }
                continue;
            }
        }
        match &tokens[at] {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                // What stands behind a name, a type's arguments or a call is called or declared.
                let is_tuple = open == "("
                    && !at
                        .checked_sub(1)
                        .is_some_and(|before| match &tokens[before] {
                            TokenTree::Punct(mark) => mark.as_char() == '>',
                            TokenTree::Ident(_) | TokenTree::Group(_) => true,
                            TokenTree::Literal(_) => false,
                        });
                out.push_str(open);
                render(group.stream(), is_tuple, out);
                out.push_str(close);
            }
            // A formatter adds a comma behind the last of several elements when it breaks a line.
            // Only behind the one element of a tuple does it mean something.
            TokenTree::Punct(comma) if comma.as_char() == ',' && at + 1 == tokens.len() => {
                let alone = !tokens[..at]
                    .iter()
                    .any(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ','));
                if alone && is_tuple {
                    out.push_str(", ");
                }
            }
            other => {
                out.push_str(&other.to_string());
                out.push(' ');
            }
        }
        at += 1;
    }
}

/// Return an attribute's content and its length in tokens, if one begins here.
fn attribute(tokens: &[TokenTree]) -> Option<(String, usize)> {
    let is = |at: usize, mark| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == mark);
    if !is(0, '#') {
        return None;
    }
    let bracket = 1 + usize::from(is(1, '!'));
    match tokens.get(bracket) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((group.stream().to_string(), bracket + 1))
        }
        _ => None,
    }
}

/// Return the length of an item in tokens: to its braces or its semicolon.
fn item(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    };
    tokens
        .iter()
        .position(ends)
        .map_or(tokens.len(), |last| last + 1)
}

/// Return the versions of the packages that are not the workspace's.
fn packages(lock: &Path) -> Result<String, String> {
    let table = table(lock, &read(lock)?)?;
    let all = table.get("package").and_then(toml::Value::as_array);
    let mut found = BTreeMap::new();
    for package in all.into_iter().flatten() {
        if package.get("source").is_some() {
            found.insert(package["name"].to_string(), package["version"].to_string());
        }
    }
    Ok(format!("{found:?}"))
}

fn table(file: &Path, text: &str) -> Result<toml::Table, String> {
    text.parse()
        .map_err(|error| format!("{}: {error}", file.display()))
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Return what is in a folder, sorted.
fn children(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut found = Vec::new();
    for entry in entries {
        found.push(entry.map_err(failed)?.path());
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in children(folder)? {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs" || e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "/// Text.\nfn f(a: u32) -> u32 {\n    g(a, 3) // text\n}\n";

    #[test]
    fn text_and_layout_do_not_count() {
        let same = [
            "fn f(a:u32)->u32{g(a,3)}",
            "//! Of the file.\n/* b */ fn f(\n    a: u32,\n) -> u32 {\n    g(\n        a,\n        3,\n    )\n}",
            "fn f(a: u32) -> u32 { g(a, 3) }\n#[cfg(test)]\nmod tests { fn x() { assert!(true) } }",
            "#[cfg(test)]\nuse a::b;\nfn f(a: u32) -> u32 { g(a, 3) }",
        ];
        for text in same {
            assert_eq!(of_source(text), of_source(SOURCE), "{text}");
        }
    }

    #[test]
    fn every_token_counts() {
        let other = [
            SOURCE.replace('3', "4"),
            SOURCE.replace("u32", "u64"),
            SOURCE.replace("g(a, 3)", "g(3, a)"),
            SOURCE.replace("g(a, 3)", "g((a,), 3)"),
            SOURCE.replace("g(a, 3)", "g((a), 3)"),
            SOURCE.replace("fn f", "#[inline] fn f"),
            SOURCE.replace("g(a, 3)", "g(a, 3);"),
        ];
        let mut seen = vec![of_source(SOURCE)];
        for text in other {
            let found = of_source(&text);
            assert!(found.is_ok() && !seen.contains(&found), "{text}");
            seen.push(found);
        }
    }

    #[test]
    fn each_literal_of_each_source_of_the_engine_counts() {
        let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        for folder in ["armv7m", "msp430", "peripherals"] {
            collect(&engine.join(folder).join("src"), &mut files).unwrap();
        }
        assert!(files.len() > 50);
        for file in files
            .iter()
            .filter(|f| f.extension().is_some_and(|e| e == "rs"))
        {
            let text = read(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let Some(at) = code
                .lines()
                .position(|l| l.contains("= 0x") && !l.contains("//"))
            else {
                continue;
            };
            let line = text.lines().nth(at).unwrap();
            let edited = text.replacen(line, &line.replace("= 0x", "= 0x1"), 1);
            assert_ne!(
                of_source(&edited),
                of_source(&text),
                "{}: {line}",
                file.display()
            );
        }
    }

    #[test]
    fn a_file_that_is_not_rust_is_named() {
        assert!(of_source("fn f( {").is_err());
        assert!(of_engine(Path::new("/nowhere"), Path::new("/nowhere/Cargo.lock")).is_err());
    }
}
