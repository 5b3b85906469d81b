//! Makes plurals: of kinds like controller-gen, of types like code-generator.
//!
//! The two differ on purpose, like their Go originals: the plural of a kind is a name in the URLs of existing
//! clusters, that of a type is only a name in code.

/// The default plural of a kind in URLs, lower-case: `NetworkPolicy` to `networkpolicies`.
///
/// Follows the inflection rules of gobuffalo/flect 1.0.3, which controller-gen applies to the
/// last word of the kind.
pub fn pluralize_kind(kind: &str) -> String {
    let word = last_word(kind);
    let stem = kind[..kind.len() - word.len()].to_lowercase();
    stem + &pluralize_word(word).to_lowercase()
}

/// The last camel case word. A run of capitals and the following letters are one word, `ABTest`, unless the
/// run begins with an acronym that flect knows: the word of `DNSIndex` is `Index`.
fn last_word(name: &str) -> &str {
    if ACRONYMS.contains(&name) {
        return name;
    }
    let mut start = 0;
    let mut after_upper = true;
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && (!after_upper || ACRONYMS.contains(&&name[start..at])) {
            start = at;
        }
        after_upper = c.is_uppercase();
    }
    &name[start..]
}

/// Acronyms after which flect begins a new word.
#[rustfmt::skip]
static ACRONYMS: &[&str] = &[
    "ACK", "ACL", "ADSL", "AES", "ANSI", "API", "ARP", "ATM", "BGP", "BSS", "CCITT", "CHAP", "CIDR", "CIR",
    "CLI", "CMOS", "CPE", "CPU", "CRC", "CRT", "CSMA", "DCE", "DEC", "DES", "DHCP", "DMI", "DNS", "DRAM",
    "DSL", "DSLAM", "DTE", "EHA", "EIA", "EIGRP", "EOF", "ESS", "FCC", "FCS", "FDDI", "FTP", "GBIC", "GEPOF",
    "HDLC", "HTML", "HTTP", "HTTPS", "IANA", "ICMP", "ID", "IDF", "IDS", "IEEE", "IETF", "IMAP", "IP", "IPS",
    "ISDN", "ISP", "JSON", "JWT", "LACP", "LAN", "LAPB", "LAPF", "LLC", "MAC", "MC", "MDF", "MIB", "MPLS",
    "MTU", "NAC", "NAT", "NBMA", "NIC", "NRZ", "NRZI", "NVRAM", "OK", "OSI", "OSPF", "OUI", "PAP", "PAT",
    "PC", "PCM", "PDU", "PIM", "POP3", "POTS", "PPP", "PPTP", "PTT", "PVST", "RAM", "RARP", "RCP", "RFC",
    "RIP", "RLL", "ROM", "RSTP", "RTP", "SDLC", "SFD", "SFP", "SLARP", "SLIP", "SMTP", "SNA", "SNAP", "SNMP",
    "SOF", "SQL", "SRAM", "SSH", "SSID", "STP", "SYN", "TDM", "TFTP", "TIA", "TOFU", "UDP", "URI", "URL",
    "USB", "UTF8", "UTP", "UUID", "VC", "VLAN", "VLSM", "VPN", "W3C", "WAN", "WEP", "WPA", "WWW",
];

fn pluralize_word(word: &str) -> String {
    let lower = word.to_lowercase();
    let known_plural = |w: &&Word| w.reversible && (w.plural == lower || w.other == Some(lower.as_str()));
    if WORDS.iter().any(|w| known_plural(&w)) {
        return lower;
    }
    if let Some(known) = WORDS.iter().find(|w| w.singular == lower) {
        return known.plural.to_owned();
    }
    // The last entry wins among compound endings ("superhuman" does not end in "man").
    let compounds = WORDS.iter().rev().filter(|w| !w.exact).map(|w| (w.singular, w.plural));
    for (singular, plural) in compounds.chain(SUFFIXES.iter().copied()) {
        if word.ends_with(plural) {
            return word.to_owned();
        }
        if let Some(stem) = word.strip_suffix(singular) {
            return format!("{stem}{plural}");
        }
    }
    if lower.ends_with('s') { lower } else { lower + "s" }
}

/// An irregular noun.
struct Word {
    singular: &'static str,
    plural: &'static str,
    /// A second plural, which stays unchanged.
    other: Option<&'static str>,
    /// Whether the plural is recognised and stays unchanged.
    reversible: bool,
    /// Whether compound words with this ending do not count.
    exact: bool,
}

const fn word(singular: &'static str, plural: &'static str) -> Word {
    Word { singular, plural, other: None, reversible: true, exact: false }
}

const fn word_or(singular: &'static str, plural: &'static str, other: &'static str) -> Word {
    Word { other: Some(other), ..word(singular, plural) }
}

const fn exact(singular: &'static str, plural: &'static str) -> Word {
    Word { exact: true, ..word(singular, plural) }
}

const fn one_way(singular: &'static str, plural: &'static str) -> Word {
    Word { reversible: false, ..word(singular, plural) }
}

/// Irregular nouns; the order decides between compounds.
#[rustfmt::skip]
static WORDS: &[Word] = &[
    // Equal in singular and plural.
    word("aircraft", "aircraft"), word_or("beef", "beef", "beefs"), word("bison", "bison"), one_way("blues", "blues"),
    word("chassis", "chassis"), word("deer", "deer"), word_or("fish", "fish", "fishes"), word("moose", "moose"),
    word("police", "police"), word_or("salmon", "salmon", "salmons"), word("series", "series"), word("sheep", "sheep"),
    word_or("shrimp", "shrimp", "shrimps"), word("species", "species"), word_or("swine", "swine", "swines"),
    word_or("trout", "trout", "trouts"), word_or("tuna", "tuna", "tunas"), word("you", "you"),
    // With another stem.
    word("child", "children"), exact("ox", "oxen"), word("foot", "feet"), word("goose", "geese"), word("man", "men"),
    word("human", "humans"), exact("louse", "lice"), word("mouse", "mice"), word("tooth", "teeth"),
    word("woman", "women"), exact("die", "dice"), word("person", "people"),
    // From French, Greek and Latin.
    word_or("adieu", "adieux", "adieus"), word("fabliau", "fabliaux"), word_or("bureau", "bureaus", "bureaux"),
    word("criterion", "criteria"), word_or("ganglion", "ganglia", "ganglions"), word_or("lexicon", "lexica", "lexicons"),
    word_or("mitochondrion", "mitochondria", "mitochondrions"), word("noumenon", "noumena"),
    word("phenomenon", "phenomena"), word("taxon", "taxa"), word("media", "media"), one_way("medium", "media"),
    word_or("stadium", "stadiums", "stadia"), word_or("aquarium", "aquaria", "aquariums"),
    word_or("auditorium", "auditoria", "auditoriums"), word_or("symposium", "symposia", "symposiums"),
    word_or("curriculum", "curriculums", "curricula"), word("quota", "quotas"),
    word_or("alumnus", "alumni", "alumnuses"), word("bacillus", "bacilli"), word_or("cactus", "cacti", "cactuses"),
    word("coccus", "cocci"), word_or("focus", "foci", "focuses"), word_or("locus", "loci", "locuses"),
    word_or("nucleus", "nuclei", "nucleuses"), word_or("octopus", "octupuses", "octopi"),
    word_or("radius", "radii", "radiuses"), word("syllabus", "syllabi"), word_or("corpus", "corpora", "corpuses"),
    word("genus", "genera"), word("alumna", "alumnae"), word("vertebra", "vertebrae"),
    word("differentia", "differentiae"), word("minutia", "minutiae"), word("vita", "vitae"), word("larva", "larvae"),
    word("postcava", "postcavae"), word("praecava", "praecavae"), word("uva", "uvae"),
    word_or("apex", "apices", "apexes"), word_or("codex", "codices", "codexes"), word_or("index", "indices", "indexes"),
    word_or("latex", "latices", "latexes"), word_or("vertex", "vertices", "vertexes"),
    word_or("vortex", "vortices", "vortexes"), word_or("appendix", "appendices", "appendixes"),
    word_or("radix", "radices", "radixes"), word_or("helix", "helices", "helixes"), exact("axis", "axes"),
    word("crisis", "crises"), one_way("ellipsis", "ellipses"), word("genesis", "geneses"), word("oasis", "oases"),
    word("thesis", "theses"), word("testis", "testes"), word("base", "bases"), one_way("basis", "bases"),
    exact("alias", "aliases"), word("vedalia", "vedalias"),
    // Regular nouns that a suffix rule would match.
    exact("use", "uses"), word("abuse", "abuses"), word("cause", "causes"), word("clause", "clauses"),
    word("cruse", "cruses"), word("excuse", "excuses"), word("fuse", "fuses"), word("house", "houses"),
    word("misuse", "misuses"), word("muse", "muses"), word("pause", "pauses"), word("ache", "aches"),
    word("topaz", "topazes"), word_or("buffalo", "buffaloes", "buffalos"), word("potato", "potatoes"),
    word("tomato", "tomatoes"),
    // Without a plural.
    word("equipment", "equipment"), word("information", "information"), word("jeans", "jeans"), word("money", "money"),
    word("news", "news"), word("rice", "rice"),
    // Exceptions to the suffix rules.
    word_or("dwarf", "dwarfs", "dwarves"), word_or("hoof", "hoofs", "hooves"), word("thief", "thieves"),
    word("chive", "chives"), word("hive", "hives"), word("move", "moves"), word("movie", "movies"),
    word("cookie", "cookies"), word("pretorium", "pretoriums"), word("agenda", "agendas"),
    word_or("formula", "formulas", "formulae"), word("shoe", "shoes"), exact("toe", "toes"), word("graffiti", "graffiti"),
];

/// Suffix rules, the first match wins; a word with the plural suffix stays unchanged. `dula` and the rows
/// after it become `bulae` as well: flect has them so.
#[rustfmt::skip]
static SUFFIXES: &[(&str, &str)] = &[
    ("tive", "tives"), ("eaf", "eaves"), ("oaf", "oaves"), ("afe", "aves"), ("arf", "arves"), ("rfe", "rves"),
    ("rf", "rves"), ("lf", "lves"), ("fe", "ves"), ("ay", "ays"), ("ey", "eys"), ("oy", "oys"), ("quy", "quies"),
    ("uy", "uys"), ("y", "ies"), ("eau", "eaux"), ("bula", "bulae"), ("dula", "bulae"), ("lula", "bulae"),
    ("nula", "bulae"), ("vula", "bulae"), ("hedron", "hedra"), ("ium", "ia"), ("seum", "seums"), ("eum", "ea"),
    ("oum", "oa"), ("stracum", "straca"), ("dum", "da"), ("elum", "ela"), ("ilum", "ila"), ("olum", "ola"),
    ("ulum", "ula"), ("llum", "lla"), ("ylum", "yla"), ("imum", "ima"), ("ernum", "erna"), ("gnum", "gna"),
    ("brum", "bra"), ("crum", "cra"), ("terum", "tera"), ("serum", "sera"), ("trum", "tra"), ("antum", "anta"),
    ("atum", "ata"), ("entum", "enta"), ("etum", "eta"), ("itum", "ita"), ("otum", "ota"), ("utum", "uta"),
    ("ctum", "cta"), ("ovum", "ova"), ("trix", "trices"), ("iasis", "iases"), ("mesis", "meses"),
    ("kinesis", "kineses"), ("resis", "reses"), ("gnosis", "gnoses"), ("opsis", "opses"), ("ysis", "yses"),
    ("ouse", "ouses"), ("lause", "lauses"), ("us", "uses"), ("ch", "ches"), ("io", "ios"), ("sh", "shes"),
    ("ss", "sses"), ("ez", "ezzes"), ("iz", "izzes"), ("tz", "tzes"), ("zz", "zzes"), ("ano", "anos"), ("lo", "los"),
    ("to", "tos"), ("oo", "oos"), ("o", "oes"), ("x", "xes"), ("S", "Ses"),
];

/// The plural of a type in code, by code-generator's rules: `EcsBinding` to `EcsBindings`,
/// `Policy` to `Policies`.
pub fn pluralize_type(name: &str) -> String {
    // The only default exception of code-generator.
    if name == "Endpoints" {
        return name.to_owned();
    }
    let mut last = name.chars().rev();
    let (Some(z), Some(y)) = (last.next(), last.next()) else {
        return name.to_owned();
    };
    let without = |n: usize| name.chars().take(name.chars().count() - n).collect::<String>();
    match (y, z) {
        (_, 's' | 'x' | 'z') | ('c' | 's', 'h') => format!("{name}es"),
        (y, 'y') if !matches!(y, 'a' | 'e' | 'i' | 'o' | 'u') => format!("{}ies", without(1)),
        ('f', 'e') => format!("{}ves", without(2)),
        (_, 'f') => format!("{}ves", without(1)),
        _ => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of controller-gen for these kinds.
    const RECORDED: &[(&str, &str)] = &[
        ("APIAlias", "apialiases"),
        ("APIKey", "apikeys"),
        ("Address", "addresses"),
        ("Alias", "aliases"),
        ("BackupSchedule", "backupschedules"),
        ("BackupRepo", "backuprepoes"),
        ("Bonus", "bonuses"),
        ("Cache", "caches"),
        ("Canary", "canaries"),
        ("Chassis", "chassis"),
        ("Criterion", "criteria"),
        ("DNS", "dnses"),
        ("DNSIndex", "dnsindices"),
        ("DataBase64", "database64s"),
        ("Endpoints", "endpoints"),
        ("Fish", "fish"),
        ("Foot", "feet"),
        ("Gateway", "gateways"),
        ("Half", "halves"),
        ("Human", "humans"),
        ("IPAddress", "ipaddresses"),
        ("IPAxis", "ipaxes"),
        ("Ingress", "ingresses"),
        ("Kafka", "kafkas"),
        ("Kubernetes", "kubernetes"),
        ("Lens", "lens"),
        ("Media", "media"),
        ("Mesh", "meshes"),
        ("Metadata", "metadata"),
        ("NetworkPolicy", "networkpolicies"),
        ("Patch", "patches"),
        ("Policy", "policies"),
        ("Potato", "potatoes"),
        ("Prometheus", "prometheuses"),
        ("Proxy", "proxies"),
        ("Quota", "quotas"),
        ("Redis", "redis"),
        ("Settings", "settings"),
        ("Status", "statuses"),
        ("Topology", "topologies"),
        ("Vertex", "vertices"),
        ("Virus", "viruses"),
    ];

    #[test]
    fn plural_of_a_kind_equals_that_of_controller_gen() {
        for (kind, plural) in RECORDED {
            assert_eq!(pluralize_kind(kind), *plural, "{kind}");
        }
    }

    #[test]
    fn plural_of_a_kind_does_not_panic_on_any_text() {
        for odd in ["", "A", "S", "é", "ÉÉ", "aÉ", "x", "ß", "İ"] {
            let _ = pluralize_kind(odd);
        }
        assert_eq!(pluralize_kind("Foo"), "foos");
        assert_eq!(pluralize_kind("UserID"), "userids");
        assert_eq!(pluralize_kind("SuperHuman"), "superhumans");
        assert_eq!(pluralize_kind("EcsBinding"), "ecsbindings");
    }

    #[test]
    fn plural_of_a_type_equals_that_of_code_generator() {
        for (name, plural) in [
            ("EcsBinding", "EcsBindings"),
            ("Policy", "Policies"),
            ("Gateway", "Gateways"),
            ("Ingress", "Ingresses"),
            ("Mesh", "Meshes"),
            ("Patch", "Patches"),
            ("Box", "Boxes"),
            ("Knife", "Knives"),
            ("Half", "Halves"),
            ("Month", "Months"),
            ("Potato", "Potatos"),
            ("Endpoints", "Endpoints"),
            ("DNS", "DNSs"),
            ("A", "A"),
            ("", ""),
        ] {
            assert_eq!(pluralize_type(name), plural, "{name}");
        }
    }
}
