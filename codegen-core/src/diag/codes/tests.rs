use super::*;

#[test]
fn codes_ascend_and_are_described() {
    for pair in CODES.windows(2) {
        assert!(pair[0].code < pair[1].code, "{} before {}", pair[0].code, pair[1].code);
    }
    for info in CODES {
        assert!(!info.title.is_empty() && !info.title.ends_with('.'));
        assert!(info.help.ends_with('.'), "{}: {}", info.code, info.help);
        assert_eq!(info.code.info(), info);
        assert_eq!(Code::parse(&info.code.to_string()), Some(info.code));
    }
}

#[test]
fn malformed_code_is_refused() {
    for text in ["", "KS", "KS2", "KS9999", "E0002", "KS00002", "KS+002"] {
        assert_eq!(Code::parse(text), None, "{text}");
    }
}
