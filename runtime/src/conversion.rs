//! Conversion between the versions of a kind: the common part of generated functions, the [scheme](crate::scheme)
//! and the webhook.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::error::Error as StdError;
use std::fmt;
use std::hash::{BuildHasher, Hash};

use kubesmith_apimachinery::decode::Step;
use serde::Serialize;
use serde_json::Value;

use crate::defaults::{Here, Inside};
use crate::json::path::{self, Path};

/// An object cannot be converted. Every error converts into it with `?`, so it cannot be a [`std::error::Error`]
/// itself.
///
/// ```
/// use kubesmith_runtime::conversion::ConversionError;
///
/// fn width(text: &str) -> Result<u32, ConversionError> {
///     if text.is_empty() {
///         return Err(ConversionError::new("v1 has no size to make a width of"));
///     }
///     Ok(text.parse()?)
/// }
/// # assert_eq!(width("").unwrap_err().to_string(), "v1 has no size to make a width of");
/// # assert!(width("x").is_err());
/// ```
#[derive(PartialEq, Eq)]
pub struct ConversionError(String);

/// The result of a conversion. [`ConversionError`] has an example of an error.
pub type ConversionResult<T> = Result<T, ConversionError>;

impl ConversionError {
    /// Makes an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        ConversionError(message.into())
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ConversionError {
    fn from(error: E) -> Self {
        ConversionError(error.to_string())
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConversionError").field(&self.0).finish()
    }
}

/// Converts every `A` in the value: the value itself or in `Option`s, boxes, lists and maps, nested to any depth.
/// The containers stay. Generated conversions call it.
///
/// ```
/// use kubesmith_runtime::conversion::{self, ConversionError};
///
/// let widths: Option<Vec<u16>> = Some(vec![1, 2]);
/// let doubled: Option<Vec<u32>> = conversion::each(&widths, |width: &u16| Ok::<_, ConversionError>(u32::from(*width) * 2))?;
/// assert_eq!(doubled, Some(vec![2, 4]));
/// # Ok::<(), ConversionError>(())
/// ```
///
/// # Errors
/// The first error of the function.
pub fn each<A, B, I, C: Contains<A, B, I>>(
    value: &C,
    mut convert: impl FnMut(&A) -> Result<B, ConversionError>,
) -> Result<C::Output, ConversionError> {
    value.each(&mut convert)
}

/// A type that contains values of type `A` and becomes one that contains `B`s. The compiler infers `I`, which says
/// where. See [`each`].
pub trait Contains<A, B, I> {
    /// The converted type.
    type Output;

    /// Converts each of them; [`each`] is easier to call.
    ///
    /// # Errors
    /// The first error of the function.
    fn each(
        &self,
        convert: &mut dyn FnMut(&A) -> Result<B, ConversionError>,
    ) -> Result<Self::Output, ConversionError>;
}

impl<A, B> Contains<A, B, Here> for A {
    type Output = B;

    fn each(&self, convert: &mut dyn FnMut(&A) -> Result<B, ConversionError>) -> Result<B, ConversionError> {
        convert(self)
    }
}

macro_rules! contains {
    ($([$($parameter:tt)*] $container:ident<$($outer:ident),*>, $it:ident, $convert:ident => $made:expr;)*) => {
        $(impl<A, B, I, C: Contains<A, B, I>, $($parameter)*> Contains<A, B, Inside<I>> for $container<$($outer),*> {
            type Output = contains!(@output $container $($outer),*);

            fn each(
                &self,
                $convert: &mut dyn FnMut(&A) -> Result<B, ConversionError>,
            ) -> Result<Self::Output, ConversionError> {
                let $it = self;
                $made
            }
        })*
    };
    (@output $container:ident C) => { $container<C::Output> };
    (@output $container:ident K, C) => { $container<K, C::Output> };
    (@output $container:ident K, C, S) => { $container<K, C::Output, S> };
}

contains! {
    [] Option<C>, it, convert => it.as_ref().map(|held| held.each(convert)).transpose();
    [] Box<C>, it, convert => C::each(it, convert).map(Box::new);
    [] Vec<C>, it, convert => it.iter().map(|held| held.each(convert)).collect();
    [] VecDeque<C>, it, convert => it.iter().map(|held| held.each(convert)).collect();
    [K: Clone + Ord] BTreeMap<K, C>, it, convert =>
        it.iter().map(|(key, held)| Ok((key.clone(), held.each(convert)?))).collect();
    [K: Clone + Eq + Hash, S: BuildHasher + Default] HashMap<K, C, S>, it, convert =>
        it.iter().map(|(key, held)| Ok((key.clone(), held.each(convert)?))).collect();
}

/// A check that a conversion loses nothing: an object converted and converted back is unchanged. For tests, best
/// with objects from a property test.
///
/// ```
/// use kubesmith_runtime::conversion::{ConversionError, RoundTrip};
///
/// let to_hub = |text: &String| Ok::<u32, ConversionError>(text.trim().parse()?);
/// let from_hub = |number: &u32| Ok::<String, ConversionError>(number.to_string());
/// let round_trip = RoundTrip::new(to_hub, from_hub);
/// assert!(round_trip.check(&"7".to_owned()).is_ok());
/// let lost = round_trip.check(&" 7".to_owned()).unwrap_err();
/// assert_eq!(lost.to_string(), r#"the object: it was " 7" and came back as "7""#);
/// ```
pub struct RoundTrip<S, H> {
    to_hub: Convert<S, H>,
    from_hub: Convert<H, S>,
    losing: Vec<String>,
}

type Convert<A, B> = Box<dyn Fn(&A) -> ConversionResult<B>>;

impl<S: Serialize, H> RoundTrip<S, H> {
    /// Makes a check of these two functions. To check hub to spoke to hub, pass them in reverse order.
    pub fn new(
        to_hub: impl Fn(&S) -> Result<H, ConversionError> + 'static,
        from_hub: impl Fn(&H) -> Result<S, ConversionError> + 'static,
    ) -> Self {
        Self { to_hub: Box::new(to_hub), from_hub: Box::new(from_hub), losing: Vec::new() }
    }

    /// Allows the conversion to lose a field and its content: `spec.size`. Items of lists are written by index,
    /// `spec.ports[0]`, and keys with dots in brackets, `metadata.annotations["example.com/size"]`, as in errors.
    ///
    /// ```
    /// use kubesmith_runtime::conversion::{ConversionError, RoundTrip};
    ///
    /// let nothing = |_: &serde_json::Value| Ok::<_, ConversionError>(serde_json::json!({"spec": {}}));
    /// let round_trip = RoundTrip::new(nothing, nothing).losing("spec.size");
    /// assert!(round_trip.check(&serde_json::json!({"spec": {"size": 1}})).is_ok());
    /// ```
    #[must_use]
    pub fn losing(mut self, field: &str) -> Self {
        self.losing.push(field.to_owned());
        self
    }

    /// Checks an object.
    ///
    /// # Errors
    /// A conversion failed, or names the first field that changed.
    pub fn check(&self, object: &S) -> Result<(), RoundTripError> {
        let failed = |why: ConversionError| RoundTripError::Failed { message: why.to_string() };
        let hub = (self.to_hub)(object).map_err(failed)?;
        let back = (self.from_hub)(&hub).map_err(failed)?;
        let value = |object: &S| serde_json::to_value(object).map_err(|error| failed(error.into()));
        let (before, after) = (value(object)?, value(&back)?);
        match self.difference(&mut Path::new(), &before, &after) {
            Some((field, before, after)) => Err(RoundTripError::Lost { field, before, after }),
            None => Ok(()),
        }
    }

    fn difference(&self, path: &mut Path, before: &Value, after: &Value) -> Option<(String, Value, Value)> {
        if before == after {
            return None;
        }
        let field = path::text(path);
        if self.losing.contains(&field) {
            return None;
        }
        let steps: Vec<Step> = match (before, after) {
            (Value::Object(before), Value::Object(after)) => {
                let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
                names.into_iter().cloned().map(Step::Member).collect()
            }
            (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
                (0..before.len()).map(Step::Item).collect()
            }
            _ => return Some((field, before.clone(), after.clone())),
        };
        steps.into_iter().find_map(|step| {
            let member = |value: &Value| step.in_value(value).cloned().unwrap_or_default();
            let (before, after) = (member(before), member(after));
            path.push(step);
            let found = self.difference(path, &before, &after);
            path.pop();
            found
        })
    }
}

impl<S, H> fmt::Debug for RoundTrip<S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundTrip").field("losing", &self.losing).finish_non_exhaustive()
    }
}

/// An object changed in a round trip. [`RoundTrip`] has an example.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RoundTripError {
    /// A conversion failed.
    #[error("the conversion failed: {message}")]
    Failed {
        /// Its message.
        message: String,
    },
    /// A field came back as another.
    #[error("{}: it was {before} and came back as {after}", place(.field))]
    Lost {
        /// Its path; empty: the object itself.
        field: String,
        /// The value before; null if it was absent.
        before: Value,
        /// The value after; null if it is absent.
        after: Value,
    },
}

fn place(field: &str) -> &str {
    if field.is_empty() { "the object" } else { field }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_converts_inside_containers_and_stops_at_the_first_error() {
        let odd = |number: &u8| match number % 2 {
            1 => Ok(i64::from(*number)),
            _ => Err(ConversionError::new(format!("{number} is even"))),
        };
        let good = HashMap::from([("a", Some(Box::new(vec![1_u8, 3])))]);
        let converted: HashMap<&str, Option<Box<Vec<i64>>>> = each(&good, odd).unwrap();
        assert_eq!(converted["a"].as_deref(), Some(&vec![1, 3]));
        let bad = VecDeque::from([BTreeMap::from([("a", 2_u8), ("b", 4)])]);
        assert_eq!(each(&bad, odd).unwrap_err().to_string(), "2 is even");
    }

    #[test]
    fn lost_field_may_have_dots_in_its_key() {
        let forget = |value: &Value| {
            let mut value = value.clone();
            value["metadata"]["annotations"] = json!({});
            Ok(value)
        };
        let object = json!({"metadata": {"annotations": {"example.com/size": "1"}}});
        let trip = RoundTrip::new(forget, |value: &Value| Ok(value.clone()));
        let error = trip.check(&object).unwrap_err();
        let RoundTripError::Lost { field, .. } = error else { panic!("{error}") };
        assert_eq!(field, r#"metadata.annotations["example.com/size"]"#);
        // Not the same as a member in a member.
        let trip = trip.losing("metadata.annotations.example.com/size");
        assert!(trip.check(&object).is_err());
        assert_eq!(trip.losing(&field).check(&object), Ok(()));
    }

    #[test]
    fn lost_field_is_named() {
        let forget = |value: &Value| {
            let mut value = value.clone();
            value["spec"]["ports"][1]["name"] = Value::Null;
            Ok(value)
        };
        let object = json!({"spec": {"ports": [{"name": "a"}, {"name": "b"}]}});
        let trip = RoundTrip::new(forget, |value: &Value| Ok(value.clone()));
        let error = trip.check(&object).unwrap_err();
        assert_eq!(error.to_string(), r#"spec.ports[1].name: it was "b" and came back as null"#);
        assert_eq!(trip.losing("spec.ports[1]").check(&object), Ok(()));
        let broken =
            RoundTrip::<Value, Value>::new(|_| Err(ConversionError::new("no")), |value| Ok(value.clone()));
        assert!(matches!(broken.check(&object), Err(RoundTripError::Failed { message }) if message == "no"));
    }
}
