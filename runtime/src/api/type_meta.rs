//! `apiVersion` and `kind` of a resource: written before its fields, checked when read.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeStruct, Serializer};

use super::ResourceInfo;

/// An object has another `apiVersion` or `kind` than its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMetaMismatch {
    /// `apiVersion` or `kind`.
    pub field: &'static str,
    /// The type's value.
    pub expected: &'static str,
    /// The object's value.
    pub found: String,
}

impl fmt::Display for TypeMetaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} {:?}, found {:?}", self.field, self.expected, self.found)
    }
}

impl std::error::Error for TypeMetaMismatch {}

/// Reads `apiVersion` and checks that it is the type's; stores nothing.
///
/// It may be absent (`default`), because items of lists may lack it.
#[doc(hidden)]
pub struct ApiVersionOf<K>(PhantomData<fn() -> K>);

/// Reads `kind` and checks that it is the type's; stores nothing.
#[doc(hidden)]
pub struct KindOf<K>(PhantomData<fn() -> K>);

impl<K> Default for ApiVersionOf<K> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<K> Default for KindOf<K> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, K: ResourceInfo> Deserialize<'de> for ApiVersionOf<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Exactly { field: "apiVersion", expected: K::API_VERSION })?;
        Ok(Self::default())
    }
}

impl<'de, K: ResourceInfo> Deserialize<'de> for KindOf<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Exactly { field: "kind", expected: K::KIND })?;
        Ok(Self::default())
    }
}

struct Exactly {
    field: &'static str,
    expected: &'static str,
}

impl Visitor<'_> for Exactly {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.field, self.expected)
    }

    fn visit_str<E: de::Error>(self, found: &str) -> Result<(), E> {
        if found == self.expected {
            return Ok(());
        }
        let Self { field, expected } = self;
        Err(E::custom(TypeMetaMismatch { field, expected, found: found.to_owned() }))
    }
}

/// Writes `apiVersion` and `kind` before the fields that a struct serialises.
#[doc(hidden)]
pub struct TypeMetaSerializer<S> {
    inner: S,
    api_version: &'static str,
    kind: &'static str,
}

impl<S: Serializer> TypeMetaSerializer<S> {
    /// Wraps the serialiser to which an object of type `K` is written.
    pub fn new<K: ResourceInfo>(inner: S) -> Self {
        Self { inner, api_version: K::API_VERSION, kind: K::KIND }
    }
}

fn not_a_map<T, E: ser::Error>() -> Result<T, E> {
    Err(E::custom("a resource is written as a map"))
}

macro_rules! refuse {
    ($($method:ident($($argument:ty),*);)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Self::Ok, Self::Error> {
            not_a_map()
        })*
    };
}

/// Accepts only structs and maps: serde writes a struct with a flattened field as a map.
impl<S: Serializer> Serializer for TypeMetaSerializer<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = S::SerializeMap;
    type SerializeStruct = S::SerializeStruct;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<S::SerializeStruct, S::Error> {
        let mut object = self.inner.serialize_struct(name, len + 2)?;
        object.serialize_field("apiVersion", self.api_version)?;
        object.serialize_field("kind", self.kind)?;
        Ok(object)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<S::SerializeMap, S::Error> {
        let mut object = self.inner.serialize_map(len.map(|len| len + 2))?;
        object.serialize_entry("apiVersion", self.api_version)?;
        object.serialize_entry("kind", self.kind)?;
        Ok(object)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    refuse! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_some<T: ?Sized + Serialize>(self, _: &T) -> Result<S::Ok, S::Error> {
        not_a_map()
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<S::Ok, S::Error> {
        not_a_map()
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<S::Ok, S::Error> {
        not_a_map()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        not_a_map()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, S::Error> {
        not_a_map()
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        not_a_map()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        not_a_map()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        not_a_map()
    }
}
