//! A verb that is left out does not exist: not on the client, and not in its trait.
//!
//! That these tests compile is what they test. `Absent` gives every type every verb, as a method that returns [`No`]. A
//! client's own method, and one of the trait that a parameter is bound by, would be taken instead and returns something else.
//!
//! What rustc says of some of them is recorded as well.

#[path = "../../../../codegen-macros/tests/it/rustc.rs"]
mod rustc;

use std::path::Path;

use kubesmith_expected::verbs::clientset::typed::shop::v1 as clients;
use kubesmith_expected::verbs::clientset::typed::shop::v1::*;
use kubesmith_runtime::client::KindClient;

struct No;

trait Absent {
    fn create(&self) -> No {
        No
    }
    fn update(&self) -> No {
        No
    }
    fn update_status(&self) -> No {
        No
    }
    fn delete(&self) -> No {
        No
    }
    fn delete_collection(&self) -> No {
        No
    }
    fn get(&self) -> No {
        No
    }
    fn list(&self) -> No {
        No
    }
    fn watch(&self) -> No {
        No
    }
    fn patch(&self) -> No {
        No
    }
    fn patch_subresource(&self) -> No {
        No
    }
    fn apply(&self) -> No {
        No
    }
    fn apply_status(&self) -> No {
        No
    }
    fn namespace(&self) -> No {
        No
    }
}

impl<T: ?Sized> Absent for T {}

/// Says of a client and its trait which methods they do not have. A client's own methods are those of its [`KindClient`]:
/// `Absent` would hide them from a call on the client itself.
macro_rules! absent {
    ($test:ident: $client:ty as $interface:path; $($method:ident)*) => {
        #[test]
        fn $test() {
            fn inherent(client: &KindClient<$client>) -> Vec<No> {
                vec![$(client.$method()),*]
            }
            fn bound<C: $interface>(client: &C) -> Vec<No> {
                vec![$(client.$method()),*]
            }
            let (_, _): (fn(&KindClient<$client>) -> Vec<No>, fn(&$client) -> Vec<No>) = (inherent, bound::<$client>);
        }
    };
}

absent!(no_status: clients::NamespacedNoStatuses as NoStatusInterface; update_status apply_status);
absent!(no_verbs: clients::NamespacedNoVerbses as NoVerbsInterface;
    create update update_status delete delete_collection get list watch patch patch_subresource apply apply_status);
absent!(only_get_list: clients::OnlyGetLists as OnlyGetListInterface;
    create update update_status delete delete_collection watch patch patch_subresource apply apply_status namespace);
absent!(only_list_watch: clients::OnlyListWatches as OnlyListWatchInterface;
    create update update_status delete delete_collection get patch patch_subresource apply apply_status namespace);
absent!(readonly: clients::NamespacedReadonlies as ReadonlyInterface;
    create update update_status delete delete_collection patch patch_subresource apply apply_status);
absent!(skip_delete: clients::NamespacedSkipDeletes as SkipDeleteInterface; delete delete_collection);

#[test]
fn client_of_all_namespaces_only_lists_and_watches() {
    let absent = |clients: &clients::SkipDeletes| {
        [
            clients.create(),
            clients.update(),
            clients.update_status(),
            clients.delete(),
            clients.delete_collection(),
            clients.get(),
            clients.patch(),
            clients.patch_subresource(),
            clients.apply(),
            clients.apply_status(),
        ]
    };
    let _: fn(&clients::SkipDeletes) -> [No; 10] = absent;
}

#[test]
fn calling_an_omitted_method_does_not_compile() {
    assert_eq!(checked("right.rs"), "");
    insta::assert_snapshot!(checked("wrong.rs"));
}

/// rustc's diagnostics for a program in tests/left_out.
fn checked(file: &str) -> String {
    let file = Path::new("tests/left_out").join(file);
    rustc::check(&file, &["kubesmith_expected"], Path::new(env!("CARGO_TARGET_TMPDIR")))
}
