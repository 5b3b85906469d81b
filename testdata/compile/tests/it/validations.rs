//! Generated validation against an API server: the same objects have the same errors, with the same text and
//! order.

use std::time::Duration;

use case_validations::{Gate, GateSpec, GateStatus, Wall, WallSpec};
use http::{Method, Request};
use kube::core::response::Status;
use kubesmith_expected::validations::validations::castle::v1::{gate, wall};
use kubesmith_expected::validations::validations::{Validate, ValidateStatus};
use kubesmith_runtime::field::{FieldError, FieldErrors, FieldPath};
use kubesmith_runtime::webhook::{
    AdmissionContext, AdmissionError, AdmissionHandler, Validating, Validator, Warnings,
};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::values::{Dice, metadata_values, spec_values, status_values};

const GATES: &str = "/apis/castle.example.com/v1/namespaces/default/gates";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// An object that nothing is wrong with.
fn fine() -> Value {
    json!({"guards": 2, "motto": "ad", "height": 1})
}

fn object(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "castle.example.com/v1", "kind": "Gate", "metadata": {"name": name, "namespace": "default"},
        "spec": spec})
}

/// The CRDs of the case.
struct Server {
    env: TestEnv,
}

impl Server {
    async fn new() -> Self {
        let env = crate::crds::server("validations").await;
        Self { env }
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Result<Value, Box<Status>> {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let request = request.body(serde_json::to_vec(body).unwrap()).unwrap();
        match self.env.client().request(request).await {
            Ok(answer) => Ok(answer),
            Err(kube::Error::Api(status)) => Err(status),
            Err(error) => panic!("{error}"),
        }
    }

    /// Changes what is said of the version of gates.
    async fn set_version(&self, change: impl Fn(&mut Value)) {
        let path = format!("{CRDS}/gates.castle.example.com");
        let mut crd = self.ask(Method::GET, &path, &Value::Null).await.unwrap();
        change(&mut crd["spec"]["versions"][0]);
        self.ask(Method::PUT, &path, &crd).await.unwrap();
    }
}

/// Compares what a server answered with what was found without one. Says whether the object was fine.
fn compare(answer: Result<Value, Box<Status>>, found: &FieldErrors, about: &Value) -> bool {
    let Err(status) = answer else {
        assert!(found.is_empty(), "the server takes it, but: {found}\n{about:#}");
        return true;
    };
    if status.code == 400 {
        // It cannot be read as an object of its kind. The server reports this without the field.
        let (_, why) = status.message.split_once(" cannot be handled as a Gate: ").unwrap();
        assert!(found.to_string().ends_with(why), "{}\n{found}\n{about:#}", status.message);
        return false;
    }
    let details = status.details.unwrap();
    let named = about["metadata"]["name"].is_string();
    let prefix = about["metadata"]["generateName"].as_str().unwrap_or_default();
    let name = if named { details.name.clone() } else { format!("{prefix}xxxxx") };
    let ours = found.to_status("castle.example.com", "Gate", &name);
    let text = if named { status.message } else { status.message.replace(&details.name, &name) };
    assert_eq!(text, ours.message, "{about:#}");
    let facts = |status: &kube::core::response::StatusDetails| -> Vec<(String, String, String)> {
        let causes = status.causes.iter();
        causes.map(|c| (c.field.clone(), c.reason.clone(), c.message.replace(&details.name, &name))).collect()
    };
    assert_eq!(facts(&details), facts(ours.details.as_ref().unwrap()), "{about:#}");
    false
}

/// By the type's own method where the object is one of the type.
fn validated(value: &Value) -> FieldErrors {
    match serde_json::from_value::<Gate>(value.clone()) {
        Ok(gate) if serde_json::to_value(&gate).is_ok_and(|typed| typed == *value) => gate.validate(),
        _ => gate::VALIDATOR.validate(value),
    }
}

#[tokio::test]
async fn validate_agrees_with_the_server_on_create() {
    let server = Server::new().await;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (specs, statuses, metadata) = (spec_values(), status_values(), metadata_values());
    let (mut fine_ones, mut faults) = (0, 0);
    for number in 0..600 {
        let mut object = object(&format!("gate-{number}"), &fine());
        // Some with one or two errors, some with many.
        dice.change(&mut object["spec"], &specs, if number % 2 == 0 { 40 } else { 4 });
        if number % 3 == 0 {
            dice.change(&mut object["metadata"], &metadata, 12);
        }
        if number % 5 == 0 {
            object["status"] = json!({});
            dice.change(&mut object["status"], &statuses, 3);
        }
        if number % 31 == 0 {
            object["metadata"]["name"] = [json!("moat"), json!("Gate"), json!("")][dice.roll(3)].clone();
        }
        let found = validated(&object);
        faults += found.iter().count();
        let answer = server.ask(Method::POST, GATES, &object).await;
        fine_ones += usize::from(compare(answer, &found, &object));
    }
    assert!(fine_ones > 50 && faults > 500, "{fine_ones} objects are fine, the others have {faults} faults");
}

#[tokio::test]
async fn validate_update_agrees_with_the_server() {
    let server = Server::new().await;
    let strict = serde_json::to_value(&crate::crds::of_case("validations")[0].spec.versions[0]).unwrap();
    // Objects that were stored before the rules existed may violate them.
    server
        .set_version(|version| {
            let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            version["schema"] = json!({"openAPIV3Schema": anything});
            version["subresources"] = json!({"status": {}});
        })
        .await;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (specs, statuses) = (spec_values(), status_values());
    for number in 0..400 {
        let mut object = object(&format!("gate-{number}"), &fine());
        dice.change(&mut object["spec"], &specs, if number % 2 == 0 { 20 } else { 4 });
        let mut stored = server.ask(Method::POST, GATES, &object).await.unwrap();
        stored["status"] = json!({"phase": "Manned", "guards": 1});
        dice.change(&mut stored["status"], &statuses, 4);
        server.ask(Method::PUT, &format!("{GATES}/gate-{number}/status"), &stored).await.unwrap();
    }
    server.set_version(|version| *version = strict.clone()).await;

    let (mut fine_ones, mut faults, mut let_pass) = (0, 0, 0);
    for number in 0..400 {
        let path = format!("{GATES}/gate-{number}");
        let old = server.ask(Method::GET, &path, &Value::Null).await.unwrap();
        let mut new = old.clone();
        dice.change(&mut new["spec"], &specs, if number % 2 == 0 { 60 } else { 12 });
        dice.change(&mut new["status"], &statuses, 4);
        let found = gate::VALIDATOR.validate_update(&new, &old);
        faults += found.iter().count();
        let_pass += usize::from(found.is_empty() && !validated(&new).is_empty());
        let answer = server.ask(Method::PUT, &path, &new).await;
        fine_ones += usize::from(compare(answer, &found, &new));

        let old = server.ask(Method::GET, &path, &Value::Null).await.unwrap();
        new["metadata"] = old["metadata"].clone();
        let found = gate::VALIDATOR.validate_status_update(&new, &old);
        faults += found.iter().count();
        let answer = server.ask(Method::PUT, &format!("{path}/status"), &new).await;
        fine_ones += usize::from(compare(answer, &found, &new));
    }
    let counts = format!("{fine_ones} are fine, {faults} faults, {let_pass} would not be taken anew");
    assert!(fine_ones > 50 && faults > 500 && let_pass > 20, "{counts}");
}

fn gate(name: &str) -> Gate {
    let spec = GateSpec { guards: 2, motto: "ad".to_owned(), height: 1, ..GateSpec::default() };
    let mut gate = Gate { spec, ..Gate::default() };
    gate.metadata.name = Some(name.to_owned());
    gate.metadata.namespace = Some("default".to_owned());
    gate
}

#[test]
fn validate_returns_every_error_with_its_path() {
    let mut bad = gate("moat");
    assert_eq!(bad.validate().to_string(), "<nil>: Invalid value: a moat is no gate");
    bad.spec.guards = 7;
    bad.spec.width = Some(7);
    let found: Vec<String> = bad.validate().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "spec.width: Invalid value: 7: spec.width in body should be a multiple of 5",
            "<nil>: Invalid value: a moat is no gate",
            "spec.guards: Forbidden: too many guards"
        ]
    );
}

#[test]
fn validate_update_ignores_unchanged_invalid_fields() {
    let mut old = gate("north");
    old.spec.builder = Some("tom".to_owned());
    old.spec.motto = "A".to_owned();
    let mut new = old.clone();
    assert!(new.validate_update(&old).is_empty(), "the motto was as wrong before");
    new.spec.builder = Some("tim".to_owned());
    new.spec.height = 0;
    let fields: Vec<String> =
        new.validate_update(&old).iter().map(|error| error.path().to_string()).collect();
    assert_eq!(fields, ["spec.builder", "spec.height"]);
    assert!(new.validate_update(&new).is_empty());

    new.status = Some(GateStatus { phase: "Lost".to_owned(), ..GateStatus::default() });
    assert_eq!(new.validate_update(&new.clone()).iter().count(), 0, "a status is not changed by the way");
    let fields: Vec<String> =
        new.validate_status_update(&old).iter().map(|error| error.path().to_string()).collect();
    assert_eq!(fields, ["status.phase", "<nil>"]);
}

#[test]
fn kind_without_a_status_is_validated_as_a_whole() {
    let wall = wall(0, true);
    assert_eq!(wall.validate().iter().count(), 1);
    assert!(wall.validate_update(&wall.clone()).is_empty());
    assert!(wall::VALIDATOR.definition().is_ok() && gate::VALIDATOR.definition().is_ok());
}

/// The policies that the package carries.
fn policies() -> Vec<Value> {
    let list = include_str!("../../../cases/validations/expected/crds.json");
    let list: Value = serde_json::from_str(list).unwrap();
    list["policies"].as_array().unwrap().clone()
}

fn wall(length: i32, annotated: bool) -> Wall {
    let mut wall = Wall { spec: WallSpec { length }, ..Wall::default() };
    wall.metadata.name = Some("outer".to_owned());
    wall.metadata.annotations = annotated.then(|| [("height".to_owned(), "9".to_owned())].into());
    wall
}

#[tokio::test]
async fn validate_evaluates_policies_as_the_server_does() {
    const WALLS: &str = "/apis/castle.example.com/v1/walls";
    let server = Server::new().await;
    for policy in policies() {
        let plural = match policy["kind"].as_str().unwrap() {
            "ValidatingAdmissionPolicy" => "validatingadmissionpolicies",
            _ => "validatingadmissionpolicybindings",
        };
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        server.ask(Method::POST, &path, &policy).await.unwrap();
    }
    let denied = |answer: Result<Value, Box<Status>>| match answer {
        Ok(_) => String::new(),
        Err(status) => status.details.unwrap().causes[0].message.clone(),
    };
    let first = |errors: FieldErrors| errors.iter().next().map_or_else(String::new, FieldError::message);
    let mut ruin = wall(13, true);
    ruin.metadata.labels = Some([("ruin".to_owned(), String::new())].into());
    let (mut refused, mut taken) = (0, 0);
    for new in [wall(0, true), wall(101, true), wall(13, true), wall(5, false), ruin, wall(5, true)] {
        let found = first(new.validate());
        let path = format!("{WALLS}?dryRun=All");
        let body = serde_json::to_value(&new).unwrap();
        let answer = denied(server.ask(Method::POST, &path, &body).await);
        assert_eq!(found, answer, "{body}");
        if found.is_empty() { taken += 1 } else { refused += 1 }
    }
    assert_eq!((refused, taken), (4, 2));

    let old = server.ask(Method::POST, WALLS, &serde_json::to_value(wall(5, true)).unwrap()).await.unwrap();
    let old: Wall = serde_json::from_value(old).unwrap();
    for (length, is_fine) in [(4, false), (6, true), (101, false)] {
        let new = Wall { spec: WallSpec { length }, ..old.clone() };
        let found = first(new.validate_update(&old));
        let path = format!("{WALLS}/outer?dryRun=All");
        let answer = denied(server.ask(Method::PUT, &path, &serde_json::to_value(&new).unwrap()).await);
        assert_eq!(found, answer);
        assert_eq!(found.is_empty(), is_fine, "{found}");
    }
}

#[test]
fn every_refusal_of_policies_is_an_error() {
    let new = wall(101, false);
    let found: Vec<String> = new.validate_update(&wall(102, false)).iter().map(ToString::to_string).collect();
    let place = |name: &str| {
        format!(
            "ValidatingAdmissionPolicy '{name}.castle.example.com' with binding '{name}.castle.example.com' denied request"
        )
    };
    assert_eq!(
        found,
        [
            format!("{}: a wall is not longer than 100", place("a-length")),
            format!("{}: walls do not shrink", place("b-growth")),
            format!(
                "{}: expression 'object.metadata.annotations['height'] != '0'' resulted in error: no such key: annotations",
                place("c-optional")
            ),
        ]
    );
    // The server that calls a webhook evaluates its policies itself.
    let denied = |errors: FieldErrors| errors.to_string().contains("ValidatingAdmissionPolicy");
    assert!(denied(new.validate()));
}

/// Descriptions and examples are no part of what is carried along.
#[test]
fn definitions_carry_no_documentation() {
    let list: Value =
        serde_json::from_str(include_str!("../../../cases/validations/expected/crds.json")).unwrap();
    assert!(list["description"].as_str().unwrap().starts_with("Code generated by kubesmith client"));
    let is_gate = |crd: &&Value| crd["metadata"]["name"] == "gates.castle.example.com";
    let gate = list["items"].as_array().unwrap().iter().find(is_gate).unwrap();
    assert!(!gate.to_string().contains("\"description\""));
    let version = &gate["spec"]["versions"][0];
    assert_eq!(version["subresources"]["scale"]["specReplicasPath"], ".spec.guards");
}

/// No gate is called after its builder.
struct Rules;

impl Validator<Gate> for Rules {
    async fn validate_create(&self, _: &AdmissionContext, gate: &Gate) -> Result<Warnings, AdmissionError> {
        match gate.metadata.name == gate.spec.builder {
            true => Err(FieldError::forbidden(FieldPath::new("spec").child("builder"), "is vain").into()),
            false if gate.spec.guards == 0 => Err(AdmissionError::denied("nobody is there")),
            false => Ok(vec!["mind the gap".to_owned()]),
        }
    }

    async fn validate_update(
        &self,
        ctx: &AdmissionContext,
        _: &Gate,
        new: &Gate,
    ) -> Result<Warnings, AdmissionError> {
        self.validate_create(ctx, new).await
    }
}

/// What a webhook with the schema and the rules answers: its code, fields and warnings.
async fn answer(
    operation: &str,
    subresource: &str,
    new: &Gate,
    old: &Gate,
) -> (u16, Vec<String>, Vec<String>) {
    let request = json!({
        "uid": "u", "operation": operation, "name": "north", "namespace": "default", "subResource": subresource,
        "kind": {"group": "castle.example.com", "version": "v1", "kind": "Gate"},
        "resource": {"group": "castle.example.com", "version": "v1", "resource": "gates"},
        "userInfo": {"username": "jane"}, "object": new, "oldObject": old,
    });
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    let ctx = AdmissionContext::new(serde_json::from_value(request).unwrap(), deadline);
    let handler = Validating::<Gate, _>::new(gate::VALIDATOR.and(Rules));
    let response = AdmissionHandler::handle(&handler, &ctx).await;
    let causes = response.status.details.map(|details| details.causes).unwrap_or_default();
    (response.status.code, causes.into_iter().map(|cause| cause.field).collect(), response.warnings)
}

#[tokio::test]
async fn webhook_responds_with_errors_of_schema_and_rules() {
    let fine = gate("north");
    let warnings = vec!["mind the gap".to_owned()];
    assert_eq!(answer("CREATE", "", &fine, &fine).await, (200, vec![], warnings.clone()));
    let mut bad = fine.clone();
    bad.spec.width = Some(7);
    assert_eq!(
        answer("CREATE", "", &bad, &fine).await,
        (422, vec!["spec.width".to_owned()], warnings.clone())
    );
    bad.spec.builder = Some("north".to_owned());
    let both = vec!["spec.width".to_owned(), "spec.builder".to_owned()];
    assert_eq!(answer("UPDATE", "", &bad, &fine).await, (422, both, vec![]));
    // A refusal of the whole object is one of the errors. In a write of the status, there is no other.
    bad.spec.builder = None;
    bad.spec.guards = 0;
    let both = vec!["spec.width".to_owned(), "<nil>".to_owned()];
    assert_eq!(answer("UPDATE", "", &bad, &fine).await, (422, both, vec![]));
    bad.spec.guards = 1;
    assert_eq!(answer("UPDATE", "status", &bad, &fine).await, (200, vec![], warnings));
}
