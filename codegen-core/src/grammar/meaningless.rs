//! Lists markers of controller-gen and code-generator that have no meaning for Rust types.

/// A marker that has no meaning for Rust types.
#[derive(Clone, Copy, Debug)]
pub struct Meaningless {
    /// The markers, without `+`; each also covers names that continue it after a colon.
    pub markers: &'static [&'static str],
    /// The reason.
    pub reason: &'static str,
}

impl Meaningless {
    /// Whether it covers the marker with this name.
    pub fn covers(&self, name: &str) -> bool {
        covers(self.markers, name)
    }
}

fn covers(markers: &[&str], name: &str) -> bool {
    markers
        .iter()
        .any(|marker| name.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')))
}

/// Markers without meaning, by generator.
pub static MEANINGLESS: &[Meaningless] = &[
    Meaningless {
        markers: &["kubebuilder:object:generate", "k8s:deepcopy-gen"],
        reason: "Rust types are copied by `Clone`, which they derive",
    },
    Meaningless { markers: &["k8s:enum"], reason: "a Rust enum lists its values itself" },
    Meaningless { markers: &["k8s:openapi-gen"], reason: "every type that a resource reaches has a schema" },
    Meaningless {
        markers: &["patchStrategy", "patchMergeKey"],
        reason: "strategic merge patch is for built-in types; custom resources have `+listType` and `+listMapKey`",
    },
    Meaningless {
        markers: &["union", "unionDiscriminator", "unionDeprecated"],
        reason: "unions are not part of a CRD's schema; a Rust enum, or `+kubebuilder:validation:ExactlyOneOf`, is",
    },
    Meaningless {
        markers: &["k8s:protobuf-gen", "protobuf"],
        reason: "custom resources are stored and sent as JSON",
    },
    Meaningless {
        markers: &["kubebuilder:ac"],
        reason: "every type that a kind with a client leads into has an apply configuration",
    },
    Meaningless {
        markers: &["k8s:register-gen", "k8s:client-gen", "k8s:informers-gen", "k8s:lister-gen"],
        reason: "`+genclient` and the options of `kubesmith generate` decide what is generated",
    },
    Meaningless {
        markers: &["k8s:defaulter-gen"],
        reason: "every kind with a client whose schema has defaults gets functions that set them",
    },
    Meaningless {
        markers: &["k8s:conversion-gen", "k8s:conversion-fn"],
        reason: "every kind of several versions gets conversions to and from the one that is stored",
    },
    Meaningless {
        markers: &["k8s:validation-gen"],
        reason: "every kind with a client has `validate()`, which checks what the schema says",
    },
    Meaningless {
        markers: &["k8s:prerelease-lifecycle-gen"],
        reason: "it ties versions to releases of Kubernetes; `deprecated_version` and `unserved_version` of `#[resource]` say it of a CRD",
    },
];
