//! The rights of an operator: those of its generated role, and no unneeded ones.

use std::path::Path;
use std::time::Duration;
use std::{fmt, fs};

use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::kube::api::PostParams;
use kubesmith_runtime::kube::{Api, Client};
use kubesmith_testenv::{Backend, User};
use serde::Deserialize as _;

use crate::cluster::Cluster;
use crate::wait::eventually;

/// The generated role of the manager, and that of leader election, which not every operator has.
const MANAGER: &str = "role.yaml";
const LEADER_ELECTION: &str = "leader_election_role.yaml";

/// Longer than an operator needs, and shorter than other waits.
const LIMIT: Duration = Duration::from_secs(60);

/// The operator as a user of its own.
pub(crate) struct Operator {
    user: User,
    client: Client,
    /// The rules of the manager's role.
    rules: Vec<PolicyRule>,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator")
            .field("user", &self.user)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Gives the operator the rights of this folder's roles, a project's `config/rbac`, and no others. On an existing
    /// cluster it keeps all rights, as a test cannot create its users.
    ///
    /// # Panics
    ///
    /// Panics if there is no role in the folder, or the server refuses it.
    #[must_use]
    pub async fn with_roles(mut self, folder: &str) -> Self {
        if self.env.backend() == Backend::ExistingCluster {
            eprintln!(
                "not checked: the operator has all rights, as a test cannot create users in an existing cluster"
            );
            return self;
        }
        let user = User { name: format!("operator-of-{}", self.namespace), ..User::default() };
        let rules = self.bind(&user, &Path::new(folder).join(MANAGER)).await;
        let leader_election = Path::new(folder).join(LEADER_ELECTION);
        if leader_election.exists() {
            self.bind(&user, &leader_election).await;
        }
        let client = self.env.add_user(&user).await.expect("a user").client();
        self.operator = Some(Operator { user, client, rules });
        self
    }

    /// Returns a client for the operator: with the rights of its roles after [`with_roles`](Self::with_roles),
    /// otherwise with all.
    #[must_use]
    pub fn operator_client(&self) -> Client {
        self.operator.as_ref().map_or_else(|| self.client(), |operator| operator.client.clone())
    }

    /// Waits until the operator has needed everything that its role allows, except these permissions. Informers only
    /// list if the server does not stream lists, so that `list` may be missing. Only the embedded server records
    /// requests: elsewhere this prints that the role is not checked. A test of nothing else has to be ignored there.
    ///
    /// # Panics
    ///
    /// Panics if it is not so within a minute, or [`with_roles`](Self::with_roles) was not called.
    pub async fn role_is_minimal(&self, but_for: &[&str]) {
        if self.env.backend() != Backend::Embedded {
            eprintln!("not checked: only the embedded server records what a role is needed for");
            return;
        }
        let operator = self.operator.as_ref().expect("the operator has roles");
        let unused =
            || self.env.unused_permissions(&operator.user, &operator.rules).expect("an embedded server");
        let needed = async || (unused() == but_for).then_some(());
        let in_time = tokio::time::timeout(LIMIT, eventually("every permission is needed", needed)).await;
        assert!(in_time.is_ok(), "not needed: {:?}", unused());
    }

    /// Creates the role of a file under a unique name, and binds the user to it; returns its rules.
    async fn bind(&self, user: &User, file: &Path) -> Vec<PolicyRule> {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = format!("{}-{}", self.namespace, file.file_stem().unwrap_or_default().display())
            .replace('_', "-");
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let subjects = Some(vec![Subject {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "User".to_owned(),
            name: user.name.clone(),
            namespace: None,
        }]);
        let role_ref = |kind: &str| RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: kind.to_owned(),
            name: name.clone(),
        };
        let params = PostParams::default();
        if text.contains("\nkind: ClusterRole\n") {
            let role = ClusterRole { metadata: metadata.clone(), ..read(&text) };
            let role = Api::all(self.client()).create(&params, &role).await.expect("a cluster role");
            let binding = ClusterRoleBinding { metadata, role_ref: role_ref("ClusterRole"), subjects };
            Api::all(self.client()).create(&params, &binding).await.expect("a binding");
            role.rules.unwrap_or_default()
        } else {
            let role = Role { metadata: metadata.clone(), ..read(&text) };
            let role =
                Api::namespaced(self.client(), &self.namespace).create(&params, &role).await.expect("a role");
            let binding = RoleBinding { metadata, role_ref: role_ref("Role"), subjects };
            let bindings = Api::namespaced(self.client(), &self.namespace);
            bindings.create(&params, &binding).await.expect("a binding");
            role.rules.unwrap_or_default()
        }
    }
}

/// Returns the only object of a file, below comments.
fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_yaml::Deserializer::from_str(text)
        .map(serde_yaml::Value::deserialize)
        .map(|document| document.expect("YAML"))
        .find(|document| !document.is_null())
        .map(|document| serde_yaml::from_value(document).expect("a role"))
        .expect("an object")
}
