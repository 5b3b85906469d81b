//! The files of a revision, read with the program `git`; follows links within the repository.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::git::{GitError, error_text, git, run};

/// A revision's tree.
pub(super) struct Tree {
    hash: String,
}

/// A file of a revision.
#[derive(Debug)]
pub(super) struct Entry {
    /// The path from the top of the repository, with links unresolved.
    pub(super) path: String,
    hash: String,
}

/// A link without a target in the revision.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) path: String,
    /// The target in the link.
    pub(super) target: String,
    /// Whether the target is outside the repository.
    pub(super) leads_outside: bool,
}

/// The contents at and below a path.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: Vec<Entry>,
    /// Links that cannot be followed.
    pub(super) links: Vec<Link>,
}

/// The object at a path of a revision.
enum Object {
    File(String),
    Folder(String),
    Outside(String),
    Missing,
}

impl Tree {
    /// The tree of a revision.
    pub(super) fn of(revision: &str) -> Result<Self, GitError> {
        let unknown = || GitError::NoRevision { revision: revision.to_owned() };
        if revision.is_empty() {
            return Err(unknown());
        }
        let wanted = format!("{revision}^{{tree}}");
        let output =
            git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).output()?;
        match output.status.success() {
            true => Ok(Self { hash: String::from_utf8_lossy(&output.stdout).trim().to_owned() }),
            false => Err(unknown()),
        }
    }

    /// Its hash.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// The files at and below a path.
    pub(super) fn list(&self, path: &str) -> Result<Listing, GitError> {
        let mut out = Listing::default();
        let found = match path {
            "" => Object::Folder(self.hash.clone()),
            path => self.resolve(&[path])?.pop().unwrap_or(Object::Missing),
        };
        self.add(path.to_owned(), "", found, &mut Vec::new(), &mut out)?;
        Ok(out)
    }

    /// `around` holds the enclosing folders, so that a link to one of them does not recurse forever.
    fn add(
        &self,
        path: String,
        target: &str,
        found: Object,
        around: &mut Vec<String>,
        out: &mut Listing,
    ) -> Result<(), GitError> {
        match found {
            Object::File(hash) => out.files.push(Entry { path, hash }),
            Object::Folder(hash) if around.contains(&hash) => {}
            Object::Folder(hash) => {
                around.push(hash);
                self.folder(&path, around, out)?;
                around.pop();
            }
            Object::Outside(target) => out.links.push(Link { path, target, leads_outside: true }),
            Object::Missing if target.is_empty() => {}
            Object::Missing => {
                out.links.push(Link { path, target: target.to_owned(), leads_outside: false });
            }
        }
        Ok(())
    }

    /// Adds the contents of a folder; the last of `around` is the folder itself.
    fn folder(&self, path: &str, around: &mut Vec<String>, out: &mut Listing) -> Result<(), GitError> {
        let hash = around.last().map_or("", String::as_str);
        let list = run(git().args(["ls-tree", "-r", "-z", "--full-tree", hash]))?;
        let slash = if path.is_empty() { "" } else { "/" };
        // "100644 blob HASH\tPATH"
        let entry = |line: &str| {
            let (about, name) = line.split_once('\t')?;
            let [mode, kind, hash] = <[&str; 3]>::try_from(about.split(' ').collect::<Vec<_>>()).ok()?;
            let entry = Entry { path: format!("{path}{slash}{name}"), hash: hash.to_owned() };
            (kind == "blob").then(|| (mode == "120000", entry))
        };
        let text = String::from_utf8_lossy(&list).into_owned();
        let (links, files): (Vec<_>, Vec<_>) =
            text.split('\0').filter_map(entry).partition(|(is_link, _)| *is_link);
        out.files.extend(files.into_iter().map(|(_, file)| file));
        let links: Vec<Entry> = links.into_iter().map(|(_, link)| link).collect();
        let targets = contents(&links.iter().collect::<Vec<_>>())?;
        let paths: Vec<&str> = links.iter().map(|link| link.path.as_str()).collect();
        for ((link, target), found) in links.iter().zip(targets).zip(self.resolve(&paths)?) {
            self.add(link.path.clone(), &target, found, around, out)?;
        }
        out.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    /// The objects at paths, with links resolved.
    fn resolve(&self, paths: &[&str]) -> Result<Vec<Object>, GitError> {
        let request: String =
            paths.iter().map(|path| format!("{}:{}\n", self.hash, path.replace('\n', "?"))).collect();
        let answer = asked(git().args(["cat-file", "--batch-check", "--follow-symlinks"]), request)?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let mut lines = text.split('\n');
        let object = |_: &&str| {
            let line = lines.next().unwrap_or_default();
            match line.split(' ').collect::<Vec<_>>()[..] {
                [hash, "blob", _] => Object::File(hash.to_owned()),
                [hash, "tree", _] => Object::Folder(hash.to_owned()),
                // git writes the target on a separate line.
                ["symlink", _] => Object::Outside(lines.next().unwrap_or_default().to_owned()),
                ["dangling" | "loop" | "notdir", _] => {
                    lines.next();
                    Object::Missing
                }
                _ => Object::Missing,
            }
        };
        Ok(paths.iter().map(object).collect())
    }
}

/// Runs a command with a request on standard input, and returns its output.
fn asked(command: &mut Command, request: String) -> Result<Vec<u8>, GitError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let input = child.stdin.take();
    // The command writes while it reads, so another thread must write the request.
    let writer =
        std::thread::spawn(move || input.map_or(Ok(()), |mut input| input.write_all(request.as_bytes())));
    let output = child.wait_with_output()?;
    if !output.status.success() || !writer.join().is_ok_and(|written| written.is_ok()) {
        return Err(GitError::Failed { action: "cat-file".to_owned(), message: error_text(&output) });
    }
    Ok(output.stdout)
}

/// The texts of files, in their order.
pub(super) fn contents(files: &[&Entry]) -> Result<Vec<String>, GitError> {
    let request: String = files.iter().map(|file| format!("{}\n", file.hash)).collect();
    let answer = asked(git().args(["cat-file", "--batch"]), request)?;
    let broken = |text: String| GitError::Failed { action: "cat-file".to_owned(), message: text };
    let mut rest = &answer[..];
    let mut texts = Vec::new();
    for file in files {
        // "HASH blob SIZE\n", the bytes, and a line break.
        let end = rest.iter().position(|byte| *byte == b'\n');
        let head = end.map(|end| String::from_utf8_lossy(&rest[..end]).into_owned()).unwrap_or_default();
        let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let body = end.zip(size).and_then(|(end, size)| rest.get(end + 1..end + 1 + size));
        let body = body.ok_or_else(|| broken(format!("it did not give {}: {head}", file.path)))?;
        texts.push(String::from_utf8_lossy(body).into_owned());
        rest = rest.get(head.len() + body.len() + 2..).unwrap_or_default();
    }
    Ok(texts)
}
