//! The line counts in docs/from-go/operators.md are up to date.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const BY_HAND: usize = 0;
const GENERATED: usize = 1;

/// The beginnings of the paths of files, and the row and column in which they are counted. The first match
/// applies.
type Places = &'static [(&'static str, &'static str, usize)];

const NOT_COUNTED: &str = "";
const MORE_SECTION: &str = "Parts that the originals lack";
const CLIENTSET: &str = "clientset";

const ECSBINDING: Places = &[
    ("api/src/", "type, list, deep copies, registration", BY_HAND),
    ("client/src/informers/", "informer, lister, factory", GENERATED),
    ("client/src/listers/", "informer, lister, factory", GENERATED),
    ("config/crd/bases/", "CRD and sample", GENERATED),
    ("config/samples/kustomization.yaml", KUSTOMIZE, GENERATED),
    ("config/samples/", "CRD and sample", BY_HAND),
    ("config/", KUSTOMIZE, GENERATED),
    ("controller/src/main.rs", "program", BY_HAND),
    ("controller/src/", "controller", BY_HAND),
    ("controller/examples/", "the way from types to a label, as one program", BY_HAND),
    ("Dockerfile", "building and configuration", BY_HAND),
    ("kubesmith.toml", "building and configuration", BY_HAND),
];
const KUSTOMIZE: &str = "role, bindings, Deployment, Service: the kustomize tree";

const BALANCER: Places = &[
    ("api/src/", "types, markers, registration", BY_HAND),
    ("client/src/clientset/fake.rs", "fake clientset", GENERATED),
    ("client/src/informers/", "informers, listers", GENERATED),
    ("client/src/listers/", "informers, listers", GENERATED),
    ("config/crd/bases/", "CRD, role", GENERATED),
    ("config/rbac/role.yaml", "CRD, role", GENERATED),
    ("config/samples/", "samples", BY_HAND),
    ("config/", "the rest of the kustomize tree", GENERATED),
    ("controller/src/main.rs", "program", BY_HAND),
    ("controller/src/", "controller", BY_HAND),
    ("Dockerfile", "scripts, Makefile, Dockerfile, configuration", BY_HAND),
    ("kubesmith.toml", "scripts, Makefile, Dockerfile, configuration", BY_HAND),
];

/// Parts that the originals lack. The rest of the client is its clientset.
const MORE: Places = &[
    ("README.md", NOT_COUNTED, BY_HAND),
    ("api/Cargo.toml", NOT_COUNTED, BY_HAND),
    ("client/Cargo.toml", NOT_COUNTED, BY_HAND),
    ("controller/Cargo.toml", NOT_COUNTED, BY_HAND),
    ("charts/", "Helm chart", GENERATED),
    ("client/src/applyconfigurations/", "apply configurations", GENERATED),
    ("client/src/validations/", "validation without a server", GENERATED),
    ("client/src/clientset/fake.rs", "fake clientset", GENERATED),
    ("client/src/", CLIENTSET, GENERATED),
    ("dist/install.yaml", "everything in one file, dist/install.yaml", GENERATED),
    ("docs/", "reference documentation", GENERATED),
];

/// Lines by row, by hand and generated.
type Lines = BTreeMap<&'static str, [usize; 2]>;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

/// Lines of code and of tests.
fn split(path: &str, text: &str) -> (usize, usize) {
    let all = text.lines().count();
    if path.starts_with("controller/tests/") || path.ends_with("/tests.rs") || path.ends_with("/fixtures.rs")
    {
        return (0, all);
    }
    let code = text.find("\n#[cfg(test)]\nmod tests {").map_or(all, |at| text[..=at].lines().count());
    (code, all - code)
}

fn count(example: &str, places: Places, tests: [&'static str; 2]) -> Lines {
    let root = repository().join("examples").join(example);
    let mut found = Vec::new();
    files(&root, &mut found);
    let mut out = Lines::new();
    for path in found {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let (code, test) = split(name, &fs::read_to_string(&path).unwrap());
        let [unit, on_a_server] = tests;
        let row = if name.starts_with("controller/tests/") { on_a_server } else { unit };
        if test > 0 {
            out.entry(row).or_default()[BY_HAND] += test;
        }
        if code > 0 {
            let place = places.iter().chain(MORE).find(|(start, ..)| name.starts_with(start));
            let (_, row, column) = place.unwrap_or_else(|| panic!("{example}/{name} is in no row"));
            out.entry(row).or_default()[*column] += code;
        }
    }
    out.remove(NOT_COUNTED);
    out
}

/// The rows of a section's table: name and cells.
fn rows<'a>(page: &'a str, section: &str) -> BTreeMap<&'a str, Vec<&'a str>> {
    let section = page.split("\n## ").find(|text| text.starts_with(section)).unwrap();
    let rows =
        section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = rows.skip(2).map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells.map(|cells| (cells[0].trim_matches('*'), cells[1..].to_vec())).collect()
}

/// Parses numbers such as `**1,462**`. Words count as 0.
fn number(cell: &str) -> usize {
    let digits = cell.trim_matches('*').replace(',', "");
    digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

/// The row with the counted lines in place of the last of its numbers.
fn row(name: &str, cells: &[&str], counted: &[usize]) -> String {
    let kept = cells.len() - counted.len();
    let mut out = format!("| {name} |");
    for cell in &cells[..kept] {
        out.push_str(&format!(" {cell} |"));
    }
    for (cell, lines) in cells[kept..].iter().zip(counted) {
        // Words stay in cells without a count.
        out.push_str(&if number(cell) == *lines { format!(" {cell} |") } else { format!(" {lines} |") });
    }
    out
}

/// The correct form of rows with wrong numbers.
fn wrong(section: &str, lines: &Lines, last: usize, page: &str) -> Vec<String> {
    let (table, more) = (rows(page, section), rows(page, MORE_SECTION));
    let columns = table["together"].len();
    let mut out = Vec::new();
    let mut sums = vec![0; columns];
    for (name, cells) in table.iter().filter(|(name, _)| **name != "together") {
        let counted = lines.get(name).copied().unwrap_or_default();
        if [number(cells[columns - 2]), number(cells[columns - 1])] != counted {
            out.push(row(name, cells, &counted));
        }
        cells[..columns - 2].iter().zip(&mut sums).for_each(|(cell, sum)| *sum += number(cell));
        counted.iter().zip(&mut sums[columns - 2..]).for_each(|(lines, sum)| *sum += lines);
    }
    let together: Vec<usize> = table["together"].iter().map(|cell| number(cell)).collect();
    if together != sums {
        out.push(row("together", &table["together"], &sums));
    }
    for (name, counted) in lines.iter().filter(|(name, _)| !table.contains_key(*name)) {
        let cells = more.get(name).unwrap_or_else(|| panic!("{section}: no table has the row {name}"));
        if [0, number(cells[last])] != *counted {
            out.push(format!("{name}, {section}: {}", counted[GENERATED]));
        }
    }
    out
}

#[test]
fn line_counts_on_the_page_are_up_to_date() {
    let page = fs::read_to_string(repository().join("docs/from-go/operators.md")).unwrap();
    let (ecsbinding, balancer) = (
        count("ecsbinding", ECSBINDING, ["tests", "tests"]),
        count("balancer", BALANCER, ["unit tests", "tests on a server"]),
    );
    let mut wrong_rows = wrong("EcsBinding", &ecsbinding, 0, &page);
    wrong_rows.extend(wrong("Balancer", &balancer, 1, &page));
    assert!(
        wrong_rows.is_empty(),
        "put these numbers into docs/from-go/operators.md:\n{}",
        wrong_rows.join("\n")
    );
}
