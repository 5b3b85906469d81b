//! Functions that make schemas of others, change them, and call each other.

use std::borrow::Cow;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Methods of schemas.
trait Change {
    fn property(&mut self, name: &str) -> &mut Value;
    fn immutable(&mut self, name: &str) -> &mut Self;
    fn without(&mut self, name: &str) -> &mut Self;
}

impl Change for Schema {
    fn property(&mut self, name: &str) -> &mut Value {
        let object = self.ensure_object();
        object.get_mut("properties").unwrap().as_object_mut().unwrap().get_mut(name).expect(name)
    }

    fn immutable(&mut self, name: &str) -> &mut Self {
        let rule = json!([{
            "rule": format!("self.{0} == oldSelf.{0}", name),
            "message": format!("{name} cannot change"),
        }]);
        self.insert("x-kubernetes-validations".to_owned(), rule);
        self
    }

    fn without(&mut self, name: &str) -> &mut Self {
        if let Some(Value::Object(properties)) = self.get_mut("properties") {
            properties.remove(name);
        }
        self
    }
}

/// A part.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub part_name: String,
    pub internal: Option<u32>,
    #[serde(default)]
    pub count: u32,
}

/// Whose definition a kind has.
pub trait Defined {
    type Definition;
    const ID: &'static str;
}

impl Defined for ChangedSpec {
    type Definition = Part;

    const ID: &'static str = "partName";
}

/// Schemas that functions change.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "functions.example.com", version = "v1", kind = "Changed")]
#[serde(rename_all = "camelCase")]
pub struct ChangedSpec {
    #[schemars(schema_with = "definition")]
    pub definition: Part,
    #[schemars(schema_with = "described::<Part>")]
    pub described: Part,
    #[schemars(schema_with = "optional")]
    pub optional: Option<Part>,
    #[schemars(schema_with = "put_together")]
    pub put_together: Value,
    #[schemars(schema_with = "collected")]
    pub collected: String,
    #[schemars(schema_with = "each")]
    pub each: Part,
    pub by_hand: ByHand,
    #[schemars(schema_with = "looped")]
    pub looped: String,
    #[serde(default = "from_the_environment")]
    pub environment: String,
}

fn looped(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = String::json_schema(generator);
    for (key, value) in [("minLength", 1), ("maxLength", 5)] {
        schema.insert(key.to_string(), value.into());
    }
    schema
}

fn from_the_environment() -> String {
    std::env::var("KUBESMITH_COMPARE_DEFAULT").unwrap_or_else(|_| "unset".to_string())
}

fn definition(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = generator
        .subschema_for::<<ChangedSpec as Defined>::Definition>()
        .immutable(<ChangedSpec as Defined>::ID)
        .to_owned();
    let change: fn(&mut Schema) -> () = |schema| {
        schema.property("internal").as_object_mut().unwrap().insert("maximum".into(), 9.into());
    };
    change(&mut schema);
    schema.without("count").without("none");
    schema
}

fn described<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = T::json_schema(generator);
    let object = schema.ensure_object();
    object.insert("description".to_string(), "Said by a function.".into());
    object.entry("x-kubernetes-map-type").or_insert_with(|| json!("atomic"));
    schema
}

fn optional(generator: &mut SchemaGenerator) -> Schema {
    let inner = described::<Part>(generator);
    let Some(properties) = inner.get("properties").cloned() else { unreachable!() };
    json_schema!({"type": "object", "nullable": true, "properties": properties})
}

fn put_together(_: &mut SchemaGenerator) -> Schema {
    let mut properties = Map::new();
    for name in ["first", "second"] {
        properties.insert(name.to_string(), json!({"type": "string", "description": format!("The {name}.")}));
    }
    let mut required = vec!["second"];
    required.push("first");
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Schema::try_from(schema).unwrap_or_else(|_| panic!("it is a schema"))
}

const OLD: &[&str] = &["old", "older"];

fn collected(_: &mut SchemaGenerator) -> Schema {
    let mut values: Vec<Value> = ["new", "newer"].iter().map(|value| json!(value)).collect();
    values.extend(OLD.iter().map(|value| Value::String((*value).to_string())));
    json_schema!({"type": "string", "enum": values})
}

fn each(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Part::json_schema(generator);
    if let Some(properties) = schema.get_mut("properties").and_then(|properties| properties.as_object_mut()) {
        for (name, property) in properties.iter_mut() {
            let property = property.as_object_mut().unwrap();
            property.insert("title".to_string(), Value::String(name.clone()));
        }
    }
    schema
}

/// An implementation by hand.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ByHand(String);

impl ByHand {
    fn limit() -> u64 {
        4 * 2
    }

    fn text(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = String::json_schema(generator);
        schema.insert("maxLength".to_string(), json!(Self::limit()));
        schema
    }
}

impl JsonSchema for ByHand {
    fn schema_name() -> Cow<'static, str> {
        "ByHand".into()
    }

    #[allow(clippy::needless_return, reason = "the generator follows `return` as well")]
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = Self::text(generator);
        return schema;
    }
}

/// Schemas that attributes transform.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "functions.example.com", version = "v1", kind = "Transformed")]
#[schemars(transform = close)]
pub struct TransformedSpec {
    #[schemars(transform = short, extend("pattern" = "^a"))]
    pub text: String,
    #[schemars(transform = |schema: &mut Schema| { schema.insert("x-kubernetes-list-type".to_string(), json!("set")); })]
    pub list: Vec<String>,
}

fn short(schema: &mut Schema) {
    schema.insert("maxLength".to_string(), 5.into());
    schema.remove("pattern");
}

fn close(schema: &mut Schema) {
    schema.insert("x-kubernetes-map-type".to_string(), json!("granular"));
}
