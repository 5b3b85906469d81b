//! Objects that were decoded without naming their type.

use std::any::Any;
use std::fmt;

use kube::core::{GroupVersionKind, ObjectList};
use serde::Serialize;
use serde_json::Value;

use super::describe;
use crate::api::Object;

/// A list of objects of some type.
pub(super) trait List: Any + Send + Sync {
    fn objects(&self) -> Vec<&dyn Object>;
    fn objects_mut(&mut self) -> Vec<&mut dyn Object>;
    fn into_objects(self: Box<Self>) -> Vec<Box<dyn Object>>;
    fn deep_copy(&self) -> Box<dyn List>;
    fn to_value(&self) -> Result<Value, serde_json::Error>;
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<K: Object + Clone + Serialize> List for ObjectList<K> {
    fn objects(&self) -> Vec<&dyn Object> {
        self.items.iter().map(|item| item as &dyn Object).collect()
    }

    fn objects_mut(&mut self) -> Vec<&mut dyn Object> {
        self.items.iter_mut().map(|item| item as &mut dyn Object).collect()
    }

    fn into_objects(self: Box<Self>) -> Vec<Box<dyn Object>> {
        self.items.into_iter().map(|item| Box::new(item) as Box<dyn Object>).collect()
    }

    fn deep_copy(&self) -> Box<dyn List> {
        Box::new(self.clone())
    }

    fn to_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// An object, or a list of objects.
pub(super) enum Content {
    Object(Box<dyn Object>),
    List(Box<dyn List>),
}

/// An object or a list that was decoded without naming its type. The [module](super) has an example.
pub struct Decoded {
    gvk: GroupVersionKind,
    content: Content,
}

impl Decoded {
    pub(super) fn new(gvk: GroupVersionKind, content: Content) -> Self {
        Self { gvk, content }
    }

    /// Returns group, version and kind.
    #[must_use]
    pub fn group_version_kind(&self) -> &GroupVersionKind {
        &self.gvk
    }

    /// Returns the object, or the items of the list.
    #[must_use]
    pub fn objects(&self) -> Vec<&dyn Object> {
        match &self.content {
            Content::Object(object) => vec![&**object],
            Content::List(list) => list.objects(),
        }
    }

    /// Returns the object, or the items of the list, for changes.
    #[must_use]
    pub fn objects_mut(&mut self) -> Vec<&mut dyn Object> {
        match &mut self.content {
            Content::Object(object) => vec![&mut **object],
            Content::List(list) => list.objects_mut(),
        }
    }

    /// Returns the object, or the items of the list, by value.
    #[must_use]
    pub fn into_objects(self) -> Vec<Box<dyn Object>> {
        match self.content {
            Content::Object(object) => vec![object],
            Content::List(list) => list.into_objects(),
        }
    }

    /// Reports whether this is a list, which is an [`ObjectList`] of its items' type.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.content, Content::List(_))
    }

    /// Returns the object or list if it is a `K`.
    #[must_use]
    pub fn downcast_ref<K: 'static>(&self) -> Option<&K> {
        match &self.content {
            Content::Object(object) => object.as_any().downcast_ref(),
            Content::List(list) => list.as_any().downcast_ref(),
        }
    }

    /// Returns the object or list by value if it is a `K`.
    ///
    /// # Errors
    /// Returns the value itself if it is not a `K`.
    pub fn downcast<K: 'static>(self) -> Result<K, Self> {
        if self.downcast_ref::<K>().is_none() {
            return Err(self);
        }
        let Self { gvk, content } = self;
        // The concrete type is known to be `K`; moving out of the box checks it again.
        let any = match content {
            Content::Object(object) => object.into_any(),
            Content::List(list) => list.into_any(),
        };
        match any.downcast() {
            Ok(object) => Ok(*object),
            Err(_) => unreachable!("{} was a K a moment ago", describe(&gvk)),
        }
    }

    /// Returns the object or list as JSON, with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// The type's `Serialize` fails.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        match &self.content {
            Content::Object(object) => object.to_value(),
            Content::List(list) => list.to_value(),
        }
    }
}

impl Clone for Decoded {
    fn clone(&self) -> Self {
        let content = match &self.content {
            Content::Object(object) => Content::Object(object.deep_copy_object()),
            Content::List(list) => Content::List(list.deep_copy()),
        };
        Self { gvk: self.gvk.clone(), content }
    }
}

impl fmt::Debug for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoded").field("gvk", &self.gvk).finish_non_exhaustive()
    }
}

impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", describe(&self.gvk))
    }
}
