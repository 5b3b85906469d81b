//! Writes and reads the fields of generated apply configurations.
//!
//! serde's derives do the same. They took more than half of the time in which a generated package compiles
//! (`bench/compile`), since they make a type for the names and a reader of sequences for each struct.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The fields of an apply configuration with their names in JSON: the part of serde's traits that differs between types.
#[doc(hidden)]
pub trait Fields: Default {
    /// Writes the fields that are set.
    ///
    /// # Errors
    /// The serializer's errors.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Reads the value of the field with this name. Returns whether there is such a field.
    ///
    /// # Errors
    /// A value of another type, and the deserializer's errors.
    fn read<'de, M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error>;
}

/// Implements `Serialize` and `Deserialize` for a struct whose fields are `Option`s, given with their names in JSON: unset
/// fields are not written, and unknown fields are ignored. A field of the type `Option<Option<T>>` tells null from an absent
/// value.
///
/// ```
/// use kubesmith_runtime::applyconfigurations;
/// use kubesmith_runtime::serde_json::{from_value, json, to_value};
///
/// #[derive(Debug, Default)]
/// pub struct ProbeApplyConfiguration {
///     pub path: Option<String>,
///     pub period_seconds: Option<i32>,
///     pub reason: Option<Option<String>>,
/// }
///
/// applyconfigurations::fields!(
///     ProbeApplyConfiguration, path("path"), period_seconds("periodSeconds"), reason("reason")
/// );
///
/// let applied = json!({"periodSeconds": 5, "reason": null});
/// let probe: ProbeApplyConfiguration = from_value(applied.clone())?;
/// assert_eq!((probe.path.as_deref(), probe.period_seconds, probe.reason.clone()), (None, Some(5), Some(None)));
/// assert_eq!(to_value(&probe)?, applied);
/// # Ok::<(), kubesmith_runtime::serde_json::Error>(())
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __apply_fields {
    ($type:ident $(, $field:ident($name:literal))* $(,)?) => {
        impl $crate::applyconfigurations::Fields for $type {
            fn write<M: $crate::serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $($crate::applyconfigurations::write_field(map, $name, &self.$field)?;)*
                Ok(())
            }

            fn read<'de, M: $crate::serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut M,
            ) -> Result<bool, M::Error> {
                match name {
                    $($name => $crate::applyconfigurations::read_field(map, $name, &mut self.$field),)*
                    _ => Ok(false),
                }
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::applyconfigurations::serialize(self, serializer)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::applyconfigurations::deserialize(deserializer)
            }
        }
    };
}

/// Writes the fields that are set.
///
/// # Errors
/// The serializer's errors.
#[doc(hidden)]
pub fn serialize<C: Fields, S: Serializer>(configuration: &C, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    configuration.write(&mut map)?;
    map.end()
}

/// Reads the known fields of a map.
///
/// # Errors
/// Another value than a map, fields of another type, and the deserializer's errors.
#[doc(hidden)]
pub fn deserialize<'de, C: Fields, D: Deserializer<'de>>(deserializer: D) -> Result<C, D::Error> {
    deserializer.deserialize_map(OfFields(PhantomData))
}

/// Writes a field if it is set.
///
/// # Errors
/// The serializer's errors.
#[doc(hidden)]
pub fn write_field<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: &Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

/// Sets a field to the next value of the map, and returns `true`. Null leaves the field unset, unless its type is
/// `Option<Option<T>>`.
///
/// # Errors
/// A value of another type, a field that occurs twice, and the deserializer's errors.
#[doc(hidden)]
pub fn read_field<'de, M: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut M,
    name: &'static str,
    field: &mut Option<T>,
) -> Result<bool, M::Error> {
    if field.is_some() {
        return Err(M::Error::duplicate_field(name));
    }
    *field = map.next_value::<Nullable<T>>()?.0;
    Ok(true)
}

struct OfFields<C>(PhantomData<C>);

impl<'de, C: Fields> Visitor<'de> for OfFields<C> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<C, M::Error> {
        let mut out = C::default();
        while let Some(name) = map.next_key::<String>()? {
            if !out.read(&name, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(out)
    }
}

/// A value, or `None` for null.
struct Nullable<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(OfNullable(PhantomData)).map(Self)
    }
}

struct OfNullable<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OfNullable<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of the field")
    }

    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        self.visit_unit()
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(T::deserialize(Null).ok())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        T::deserialize(deserializer).map(Some)
    }
}

/// A null that only an option takes: other types that read null, such as JSON, do not tell it from an absent value.
struct Null;

impl<'de> Deserializer<'de> for Null {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("null"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}
