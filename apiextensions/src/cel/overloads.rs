//! Functions and their signatures: the standard library of CEL and the extensions of Kubernetes 1.36.
//!
//! Each line is `overload function [receiver.](arguments) result`; capital letters stand for any type.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::types::Type;

/// One signature of a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) id: &'static str,
    pub(super) member: bool,
    /// The types of the arguments, the receiver first.
    pub(super) args: Vec<Type>,
    pub(super) result: Type,
}

/// The signatures of a function in order; `None` if the function is unknown.
pub(super) fn lookup(function: &str) -> Option<&'static [Overload]> {
    TABLE.get(function).map(Vec::as_slice)
}

static TABLE: LazyLock<HashMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let mut table: HashMap<&'static str, Vec<Overload>> = HashMap::new();
    for line in SIGNATURES.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // A test checks that every line can be read.
        if let Some((function, overload)) = read(line) {
            table.entry(function).or_default().push(overload);
        }
    }
    table
});

fn read(line: &'static str) -> Option<(&'static str, Overload)> {
    let mut words = line.split(' ');
    let (id, function, signature, result) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let open = match signature.strip_prefix('(') {
        Some(_) => 0,
        None => signature.find(".(")? + 1,
    };
    let receiver = signature.get(..open)?.strip_suffix('.');
    let inner = signature.get(open + 1..)?.strip_suffix(')')?;
    let mut args = Vec::new();
    if let Some(receiver) = receiver {
        args.push(read_type(receiver)?);
    }
    for arg in split(inner) {
        args.push(read_type(arg)?);
    }
    Some((function, Overload { id, member: receiver.is_some(), args, result: read_type(result)? }))
}

/// Splits at commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

fn read_type(text: &'static str) -> Option<Type> {
    let inner = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    if let Some(item) = inner("list") {
        return Some(Type::list(read_type(item)?));
    }
    if let Some(parts) = inner("map") {
        return match split(parts).as_slice() {
            [key, value] => Some(Type::map(read_type(key)?, read_type(value)?)),
            _ => None,
        };
    }
    if let Some(item) = inner("optional") {
        return Some(Type::optional(read_type(item)?));
    }
    if let Some(item) = inner("type") {
        return Some(Type::Type(Arc::new(read_type(item)?)));
    }
    Some(match text {
        "dyn" => Type::Dyn,
        "null" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        "quantity" => Type::Opaque("kubernetes.Quantity"),
        "url" => Type::Opaque("kubernetes.URL"),
        "ip" => Type::Opaque("net.IP"),
        "cidr" => Type::Opaque("net.CIDR"),
        "format" => Type::Opaque("kubernetes.NamedFormat"),
        "semver" => Type::Opaque("kubernetes.Semver"),
        "authorizer" => Type::Opaque("kubernetes.authorization.Authorizer"),
        "pathcheck" => Type::Opaque("kubernetes.authorization.PathCheck"),
        "groupcheck" => Type::Opaque("kubernetes.authorization.GroupCheck"),
        "resourcecheck" => Type::Opaque("kubernetes.authorization.ResourceCheck"),
        "decision" => Type::Opaque("kubernetes.authorization.Decision"),
        "A" | "B" | "K" | "V" => Type::Param(text.to_owned()),
        _ => return None,
    })
}

const SIGNATURES: &str = "
conditional _?_:_ (bool,A,A) A
logical_and _&&_ (bool,bool) bool
logical_or _||_ (bool,bool) bool
logical_not !_ (bool) bool
not_strictly_false @not_strictly_false (bool) bool
equals _==_ (A,A) bool
not_equals _!=_ (A,A) bool
less_bool _<_ (bool,bool) bool
less_int64 _<_ (int,int) bool
less_int64_double _<_ (int,double) bool
less_int64_uint64 _<_ (int,uint) bool
less_uint64 _<_ (uint,uint) bool
less_uint64_double _<_ (uint,double) bool
less_uint64_int64 _<_ (uint,int) bool
less_double _<_ (double,double) bool
less_double_int64 _<_ (double,int) bool
less_double_uint64 _<_ (double,uint) bool
less_string _<_ (string,string) bool
less_bytes _<_ (bytes,bytes) bool
less_timestamp _<_ (timestamp,timestamp) bool
less_duration _<_ (duration,duration) bool
less_equals_bool _<=_ (bool,bool) bool
less_equals_int64 _<=_ (int,int) bool
less_equals_int64_double _<=_ (int,double) bool
less_equals_int64_uint64 _<=_ (int,uint) bool
less_equals_uint64 _<=_ (uint,uint) bool
less_equals_uint64_double _<=_ (uint,double) bool
less_equals_uint64_int64 _<=_ (uint,int) bool
less_equals_double _<=_ (double,double) bool
less_equals_double_int64 _<=_ (double,int) bool
less_equals_double_uint64 _<=_ (double,uint) bool
less_equals_string _<=_ (string,string) bool
less_equals_bytes _<=_ (bytes,bytes) bool
less_equals_timestamp _<=_ (timestamp,timestamp) bool
less_equals_duration _<=_ (duration,duration) bool
greater_bool _>_ (bool,bool) bool
greater_int64 _>_ (int,int) bool
greater_int64_double _>_ (int,double) bool
greater_int64_uint64 _>_ (int,uint) bool
greater_uint64 _>_ (uint,uint) bool
greater_uint64_double _>_ (uint,double) bool
greater_uint64_int64 _>_ (uint,int) bool
greater_double _>_ (double,double) bool
greater_double_int64 _>_ (double,int) bool
greater_double_uint64 _>_ (double,uint) bool
greater_string _>_ (string,string) bool
greater_bytes _>_ (bytes,bytes) bool
greater_timestamp _>_ (timestamp,timestamp) bool
greater_duration _>_ (duration,duration) bool
greater_equals_bool _>=_ (bool,bool) bool
greater_equals_int64 _>=_ (int,int) bool
greater_equals_int64_double _>=_ (int,double) bool
greater_equals_int64_uint64 _>=_ (int,uint) bool
greater_equals_uint64 _>=_ (uint,uint) bool
greater_equals_uint64_double _>=_ (uint,double) bool
greater_equals_uint64_int64 _>=_ (uint,int) bool
greater_equals_double _>=_ (double,double) bool
greater_equals_double_int64 _>=_ (double,int) bool
greater_equals_double_uint64 _>=_ (double,uint) bool
greater_equals_string _>=_ (string,string) bool
greater_equals_bytes _>=_ (bytes,bytes) bool
greater_equals_timestamp _>=_ (timestamp,timestamp) bool
greater_equals_duration _>=_ (duration,duration) bool
add_bytes _+_ (bytes,bytes) bytes
add_double _+_ (double,double) double
add_duration_duration _+_ (duration,duration) duration
add_duration_timestamp _+_ (duration,timestamp) timestamp
add_timestamp_duration _+_ (timestamp,duration) timestamp
add_int64 _+_ (int,int) int
add_list _+_ (list(A),list(A)) list(A)
add_string _+_ (string,string) string
add_uint64 _+_ (uint,uint) uint
subtract_double _-_ (double,double) double
subtract_duration_duration _-_ (duration,duration) duration
subtract_int64 _-_ (int,int) int
subtract_timestamp_duration _-_ (timestamp,duration) timestamp
subtract_timestamp_timestamp _-_ (timestamp,timestamp) duration
subtract_uint64 _-_ (uint,uint) uint
multiply_double _*_ (double,double) double
multiply_int64 _*_ (int,int) int
multiply_uint64 _*_ (uint,uint) uint
divide_double _/_ (double,double) double
divide_int64 _/_ (int,int) int
divide_uint64 _/_ (uint,uint) uint
modulo_int64 _%_ (int,int) int
modulo_uint64 _%_ (uint,uint) uint
negate_double -_ (double) double
negate_int64 -_ (int) int
index_list _[_] (list(A),int) A
index_map _[_] (map(A,B),A) B
optional_list_optindex_optional_int _[_] (optional(list(V)),int) optional(V)
optional_map_optindex_optional_value _[_] (optional(map(K,V)),K) optional(V)
list_optindex_optional_int _[?_] (list(V),int) optional(V)
optional_list_optindex_optional_int _[?_] (optional(list(V)),int) optional(V)
map_optindex_optional_value _[?_] (map(K,V),K) optional(V)
optional_map_optindex_optional_value _[?_] (optional(map(K,V)),K) optional(V)
in_list @in (A,list(A)) bool
in_map @in (A,map(A,B)) bool
size_bytes size (bytes) int
bytes_size size bytes.() int
size_list size (list(A)) int
list_size size list(A).() int
size_map size (map(A,B)) int
map_size size map(A,B).() int
size_string size (string) int
string_size size string.() int
type type (A) type(A)
bool_to_bool bool (bool) bool
string_to_bool bool (string) bool
bytes_to_bytes bytes (bytes) bytes
string_to_bytes bytes (string) bytes
double_to_double double (double) double
int64_to_double double (int) double
string_to_double double (string) double
uint64_to_double double (uint) double
duration_to_duration duration (duration) duration
int64_to_duration duration (int) duration
string_to_duration duration (string) duration
dyn dyn (A) dyn
int64_to_int64 int (int) int
double_to_int64 int (double) int
duration_to_int64 int (duration) int
string_to_int64 int (string) int
timestamp_to_int64 int (timestamp) int
uint64_to_int64 int (uint) int
string_to_string string (string) string
bool_to_string string (bool) string
bytes_to_string string (bytes) string
double_to_string string (double) string
duration_to_string string (duration) string
int64_to_string string (int) string
timestamp_to_string string (timestamp) string
uint64_to_string string (uint) string
timestamp_to_timestamp timestamp (timestamp) timestamp
int64_to_timestamp timestamp (int) timestamp
string_to_timestamp timestamp (string) timestamp
uint64_to_uint64 uint (uint) uint
double_to_uint64 uint (double) uint
int64_to_uint64 uint (int) uint
string_to_uint64 uint (string) uint
contains_string contains string.(string) bool
ends_with_string endsWith string.(string) bool
starts_with_string startsWith string.(string) bool
matches matches (string,string) bool
matches_string matches string.(string) bool
timestamp_to_year getFullYear timestamp.() int
timestamp_to_year_with_tz getFullYear timestamp.(string) int
timestamp_to_month getMonth timestamp.() int
timestamp_to_month_with_tz getMonth timestamp.(string) int
timestamp_to_day_of_year getDayOfYear timestamp.() int
timestamp_to_day_of_year_with_tz getDayOfYear timestamp.(string) int
timestamp_to_day_of_month getDayOfMonth timestamp.() int
timestamp_to_day_of_month_with_tz getDayOfMonth timestamp.(string) int
timestamp_to_day_of_month_1_based getDate timestamp.() int
timestamp_to_day_of_month_1_based_with_tz getDate timestamp.(string) int
timestamp_to_day_of_week getDayOfWeek timestamp.() int
timestamp_to_day_of_week_with_tz getDayOfWeek timestamp.(string) int
timestamp_to_hours getHours timestamp.() int
timestamp_to_hours_with_tz getHours timestamp.(string) int
duration_to_hours getHours duration.() int
timestamp_to_minutes getMinutes timestamp.() int
timestamp_to_minutes_with_tz getMinutes timestamp.(string) int
duration_to_minutes getMinutes duration.() int
timestamp_to_seconds getSeconds timestamp.() int
timestamp_to_seconds_tz getSeconds timestamp.(string) int
duration_to_seconds getSeconds duration.() int
timestamp_to_milliseconds getMilliseconds timestamp.() int
timestamp_to_milliseconds_with_tz getMilliseconds timestamp.(string) int
duration_to_milliseconds getMilliseconds duration.() int
optional_of optional.of (V) optional(V)
optional_ofNonZeroValue optional.ofNonZeroValue (V) optional(V)
optional_none optional.none () optional(V)
optional_value value optional(V).() V
optional_hasValue hasValue optional(V).() bool
optional_or_optional or optional(V).(optional(V)) optional(V)
optional_orValue_value orValue optional(V).(V) V
optional_unwrap optional.unwrap (list(optional(V))) list(V)
optional_unwrapOpt unwrapOpt list(optional(V)).() list(V)
string_char_at_int charAt string.(int) string
string_index_of_string indexOf string.(string) int
string_index_of_string_int indexOf string.(string,int) int
string_last_index_of_string lastIndexOf string.(string) int
string_last_index_of_string_int lastIndexOf string.(string,int) int
string_lower_ascii lowerAscii string.() string
string_upper_ascii upperAscii string.() string
string_replace_string_string replace string.(string,string) string
string_replace_string_string_int replace string.(string,string,int) string
string_split_string split string.(string) list(string)
string_split_string_int split string.(string,int) list(string)
string_substring_int substring string.(int) string
string_substring_int_int substring string.(int,int) string
string_trim trim string.() string
string_format format string.(list(dyn)) string
strings_quote strings.quote (string) string
list_join join list(string).() string
list_join_string join list(string).(string) string
list_int_is_sorted_bool isSorted list(int).() bool
list_uint_is_sorted_bool isSorted list(uint).() bool
list_double_is_sorted_bool isSorted list(double).() bool
list_bool_is_sorted_bool isSorted list(bool).() bool
list_duration_is_sorted_bool isSorted list(duration).() bool
list_timestamp_is_sorted_bool isSorted list(timestamp).() bool
list_string_is_sorted_bool isSorted list(string).() bool
list_bytes_is_sorted_bool isSorted list(bytes).() bool
list_int_sum_int sum list(int).() int
list_uint_sum_uint sum list(uint).() uint
list_double_sum_double sum list(double).() double
list_duration_sum_duration sum list(duration).() duration
list_int_max_int max list(int).() int
list_uint_max_uint max list(uint).() uint
list_double_max_double max list(double).() double
list_bool_max_bool max list(bool).() bool
list_duration_max_duration max list(duration).() duration
list_timestamp_max_timestamp max list(timestamp).() timestamp
list_string_max_string max list(string).() string
list_bytes_max_bytes max list(bytes).() bytes
list_int_min_int min list(int).() int
list_uint_min_uint min list(uint).() uint
list_double_min_double min list(double).() double
list_bool_min_bool min list(bool).() bool
list_duration_min_duration min list(duration).() duration
list_timestamp_min_timestamp min list(timestamp).() timestamp
list_string_min_string min list(string).() string
list_bytes_min_bytes min list(bytes).() bytes
list_a_index_of_int indexOf list(A).(A) int
list_a_last_index_of_int lastIndexOf list(A).(A) int
list_slice slice list(A).(int,int) list(A)
list_flatten flatten list(list(A)).() list(A)
list_flatten_int flatten list(dyn).(int) list(dyn)
list_distinct distinct list(A).() list(A)
list_reverse reverse list(A).() list(A)
list_first first list(A).() optional(A)
list_last last list(A).() optional(A)
lists_range lists.range (int) list(int)
list_int_sort sort list(int).() list(int)
list_uint_sort sort list(uint).() list(uint)
list_double_sort sort list(double).() list(double)
list_bool_sort sort list(bool).() list(bool)
list_duration_sort sort list(duration).() list(duration)
list_timestamp_sort sort list(timestamp).() list(timestamp)
list_string_sort sort list(string).() list(string)
list_bytes_sort sort list(bytes).() list(bytes)
list_int_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(int)) list(A)
list_uint_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(uint)) list(A)
list_double_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(double)) list(A)
list_bool_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(bool)) list(A)
list_duration_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(duration)) list(A)
list_timestamp_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(timestamp)) list(A)
list_string_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(string)) list(A)
list_bytes_sortByAssociatedKeys @sortByAssociatedKeys list(A).(list(bytes)) list(A)
@mapInsert_map_map cel.@mapInsert (map(K,V),map(K,V)) map(K,V)
@mapInsert_map_key_value cel.@mapInsert (map(K,V),K,V) map(K,V)
list_sets_contains_list sets.contains (list(A),list(A)) bool
list_sets_equivalent_list sets.equivalent (list(A),list(A)) bool
list_sets_intersects_list sets.intersects (list(A),list(A)) bool
string_find_string find string.(string) string
string_find_all_string findAll string.(string) list(string)
string_find_all_string_int findAll string.(string,int) list(string)
string_to_url url (string) url
url_get_scheme getScheme url.() string
url_get_host getHost url.() string
url_get_hostname getHostname url.() string
url_get_port getPort url.() string
url_get_escaped_path getEscapedPath url.() string
url_get_query getQuery url.() map(string,list(string))
is_url_string isURL (string) bool
string_to_quantity quantity (string) quantity
is_quantity_string isQuantity (string) bool
quantity_sign sign (quantity) int
quantity_is_greater_than isGreaterThan quantity.(quantity) bool
quantity_is_less_than isLessThan quantity.(quantity) bool
quantity_compare_to compareTo quantity.(quantity) int
quantity_get_float asApproximateFloat quantity.() double
quantity_get_int asInteger quantity.() int
quantity_is_integer isInteger quantity.() bool
quantity_add add quantity.(quantity) quantity
quantity_add_int add quantity.(int) quantity
quantity_sub sub quantity.(quantity) quantity
quantity_sub_int sub quantity.(int) quantity
string_to_ip ip (string) ip
ip_family family ip.() int
string_jsonpatch_escapeKey_string jsonpatch.escapeKey (string) string
ip_is_canonical ip.isCanonical (string) bool
ip_is_unspecified isUnspecified ip.() bool
ip_is_loopback isLoopback ip.() bool
ip_is_link_local_multicast isLinkLocalMulticast ip.() bool
ip_is_link_local_unicast isLinkLocalUnicast ip.() bool
ip_is_global_unicast isGlobalUnicast ip.() bool
is_ip isIP (string) bool
ip_to_string string (ip) string
string_to_cidr cidr (string) cidr
cidr_contains_ip_string containsIP cidr.(string) bool
cidr_contains_ip_ip containsIP cidr.(ip) bool
cidr_contains_cidr_string containsCIDR cidr.(string) bool
cidr_contains_cidr containsCIDR cidr.(cidr) bool
cidr_ip ip cidr.() ip
cidr_prefix_length prefixLength cidr.() int
cidr_masked masked cidr.() cidr
is_cidr isCIDR (string) bool
cidr_to_string string (cidr) string
format-validate validate format.(string) optional(list(string))
format-named format.named (string) optional(format)
format.dns1123Label format.dns1123Label () format
format.dns1123Subdomain format.dns1123Subdomain () format
format.dns1035Label format.dns1035Label () format
format.qualifiedName format.qualifiedName () format
format.dns1123LabelPrefix format.dns1123LabelPrefix () format
format.dns1123SubdomainPrefix format.dns1123SubdomainPrefix () format
format.dns1035LabelPrefix format.dns1035LabelPrefix () format
format.labelValue format.labelValue () format
format.uri format.uri () format
format.uuid format.uuid () format
format.byte format.byte () format
format.date format.date () format
format.datetime format.datetime () format
string_to_semver semver (string) semver
string_bool_to_semver semver (string,bool) semver
is_semver_string isSemver (string) bool
is_semver_string_bool isSemver (string,bool) bool
semver_is_greater_than isGreaterThan semver.(semver) bool
semver_is_less_than isLessThan semver.(semver) bool
semver_compare_to compareTo semver.(semver) int
semver_major major semver.() int
semver_minor minor semver.() int
semver_patch patch semver.() int
authorizer_path path authorizer.(string) pathcheck
authorizer_group group authorizer.(string) groupcheck
authorizer_serviceaccount serviceAccount authorizer.(string,string) authorizer
pathcheck_check check pathcheck.(string) decision
groupcheck_resource resource groupcheck.(string) resourcecheck
resourcecheck_subresource subresource resourcecheck.(string) resourcecheck
resourcecheck_namespace namespace resourcecheck.(string) resourcecheck
resourcecheck_name name resourcecheck.(string) resourcecheck
resourcecheck_fieldselector fieldSelector resourcecheck.(string) resourcecheck
resourcecheck_labelselector labelSelector resourcecheck.(string) resourcecheck
resourcecheck_check check resourcecheck.(string) decision
decision_errored errored decision.() bool
decision_error error decision.() string
decision_allowed allowed decision.() bool
decision_reason reason decision.() string
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_parses() {
        for line in SIGNATURES.lines().filter(|line| !line.trim().is_empty()) {
            assert!(read(line.trim()).is_some(), "{line}");
        }
        assert_eq!(lookup("charAt").map(<[Overload]>::len), Some(1));
        assert!(lookup("nope").is_none());
    }
}
