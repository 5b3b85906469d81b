use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

#[test]
fn quantities_are_exact() {
    let q = quantity;
    assert_eq!(q("1.5Gi"), q("1610612736"));
    assert_eq!(q("1500m"), q("1.5"));
    assert_eq!(q("1k").as_i64(), Some(1000));
    assert_eq!(q("1e3").as_i64(), Some(1000));
    assert_eq!(q("0.5").as_i64(), None);
    assert_eq!(q("-1").sign(), -1);
    assert_eq!((q("1") + q("500m")).as_f64(), 1.5);
    assert!(q("99999999999999999999E") > q("1E"));
    assert!(q("9223372036854775808") > q("9223372036854775807"));
    assert_eq!(q("8Ei"), q("9Ei"));
    assert_eq!(q("0.1n"), q("0.00000000000000000000000000000000000000000001"));
}

#[test]
fn malformed_quantity_is_an_error() {
    for bad in ["", "x", "1x", "1.2.3", "1 Gi", "1Gi ", "1e3.5"] {
        assert_eq!(Quantity::parse(bad), Err(ParseQuantityError::Format), "{bad}");
    }
    for bad in ["--1", "1gi", "1KI"] {
        assert!(Quantity::parse(bad).is_err(), "{bad}");
    }
    for bad in ["5K", "5kk", "1e"] {
        assert_eq!(Quantity::parse(bad), Err(ParseQuantityError::Suffix), "{bad}");
    }
}

#[test]
fn quantity_is_an_integer_when_written_as_one() {
    let integer = |text: &str| quantity(text).as_i64();
    assert_eq!((integer("5"), integer("5k"), integer("1Gi")), (Some(5), Some(5000), Some(1 << 30)));
    assert_eq!((integer("2000m"), integer("1.0"), integer("9223372036854775807")), (None, None, None));
    let sum = quantity("1") + Quantity::from(2);
    assert_eq!((sum.as_i64(), (sum - Quantity::from(3)).as_i64()), (Some(3), Some(0)));
    assert_eq!(quantity("123456789.123456789").as_f64(), 123_456_789.123_456_79);
    for zero in [".", "-", "e3", "00"] {
        assert_eq!(quantity(zero).sign(), 0, "{zero}");
    }
}

#[test]
fn quantity_prints_in_canonical_form() {
    for (given, expected) in [
        ("0", "0"),
        ("0.5", "500m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1", "1"),
        ("100", "100"),
        ("1000", "1k"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("-0.5Ki", "-512"),
        ("-2Ki", "-2Ki"),
        ("0.1Mi", "104857600m"),
        ("512Mi", "512Mi"),
        ("1e3", "1e3"),
        ("12E2", "1200"),
        ("-0.25", "-250m"),
        ("0.0000000001", "1n"),
        ("-0.0000000001", "-1n"),
        ("+5", "5"),
        (".", "0"),
        ("k", "0"),
        ("-", "0"),
        ("10E", "10E"),
        ("12345678901234567890", "12345678901234567890"),
        ("10Ei", "9223372036854775807"),
        (".5", "500m"),
        ("99999999999999999999Ei", "9223372036854775807"),
    ] {
        assert_eq!(quantity(given).to_string(), expected, "{given}");
        assert_eq!(quantity(expected), quantity(given), "{expected}");
    }
}
