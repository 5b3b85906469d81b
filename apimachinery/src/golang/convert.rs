//! Faults of Go's conversion from maps, which apply and strategic merge patches end in.

/// The error of apimachinery's `FromUnstructured` (pkg/runtime/converter.go) where encoding/json reports `fault`.
///
/// ```
/// use kubesmith_apimachinery::golang::from_unstructured;
///
/// let fault = "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32";
/// assert_eq!(from_unstructured(fault), "unrecognized type: int32");
/// ```
#[must_use]
pub fn from_unstructured(fault: &str) -> String {
    if fault.starts_with("illegal base64 data") {
        return format!("error decoding from json: {fault}");
    }
    let parts = fault.strip_prefix("json: cannot unmarshal ").and_then(|rest| rest.split_once(" into Go "));
    let Some((from, into)) = parts else { return fault.to_owned() };
    let field = into.strip_prefix("struct field ").and_then(|into| into.split_once(" of type "));
    let bytes = into.strip_prefix("value of type ").filter(|into| *into == "[]uint8");
    // A type with its own decoder reports the same here.
    let Some(into) = field.map(|(_, into)| into).or(bytes) else { return fault.to_owned() };
    let is_whole = |number: &str| !number.contains(['.', 'e', 'E']);
    let kind = match from.split_once(' ').unwrap_or((from, "")) {
        ("number", number) if is_whole(number) => "int64",
        ("number", _) => "float64",
        ("object", _) => "map",
        ("array", _) => "slice",
        (scalar, _) => scalar,
    };
    match into {
        list if list.starts_with("[]") => format!("cannot restore slice from {kind}"),
        map if map.starts_with("map[") => format!("cannot restore map from {kind}"),
        // A text of a type of its own; a struct is restored from other kinds of values alike.
        text if text.starts_with("types.") && kind == "int64" => format!("cannot convert {kind} to {text}"),
        message if message.contains('.') => format!("cannot restore struct from: {kind}"),
        // Go converts between numbers and, as bytes, from whole numbers to texts; the converter then refuses.
        "string" if kind == "int64" => format!("cannot convert {kind} to {into}"),
        "int32" | "int64" if kind == "float64" => format!("cannot convert {kind} to {into}"),
        scalar => format!("unrecognized type: {scalar}"),
    }
}

#[cfg(test)]
mod tests {
    use super::from_unstructured;

    #[test]
    fn conversion_from_maps_names_kinds_of_values() {
        let field = |from: &str, into: &str| {
            from_unstructured(&format!(
                "json: cannot unmarshal {from} into Go struct field A.b of type {into}"
            ))
        };
        assert_eq!(field("number", "string"), "cannot convert int64 to string");
        assert_eq!(field("number", "types.UID"), "cannot convert int64 to types.UID");
        assert_eq!(field("number 1.5", "int32"), "cannot convert float64 to int32");
        assert_eq!(field("bool", "string"), "unrecognized type: string");
        assert_eq!(field("string", "[]string"), "cannot restore slice from string");
        assert_eq!(field("array", "map[string]string"), "cannot restore map from slice");
        assert_eq!(field("string", "v1.PodSpec"), "cannot restore struct from: string");
        let bytes = "json: cannot unmarshal number into Go value of type []uint8";
        assert_eq!(from_unstructured(bytes), "cannot restore slice from int64");
        let base64 = "illegal base64 data at input byte 0";
        assert_eq!(from_unstructured(base64), format!("error decoding from json: {base64}"));
        assert_eq!(from_unstructured("quantities must match"), "quantities must match");
    }
}
