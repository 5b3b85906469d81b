//! Values that a macro inserts are values.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, ResourceInfo};

macro_rules! resource {
    ($name:ident, $group:literal, $least:expr) => {
        #[derive(Clone, Debug, Resource)]
        #[resource(group = $group, version = "v1")]
        struct $name {
            metadata: ObjectMeta,
            #[validation(minimum = $least)]
            spec: i32,
        }
    };
}

resource!(Foo, "example.com", -1);
resource!(Bar, "example.com", 1.0);

#[test]
fn attribute_values_from_macro_rules_are_read() {
    assert_eq!((Foo::GROUP, Bar::KIND), ("example.com", "Bar"));
}
