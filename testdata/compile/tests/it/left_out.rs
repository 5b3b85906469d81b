//! A verb that is left out does not exist: not on the client, and not in its trait.
//!
//! That these tests compile is what they test. `Absent` gives every type every verb, as a method that returns [`No`]. A
//! client's own method, and one of the trait that a parameter is bound by, would be taken instead and returns something else.

use kubesmith_expected::verbs::clientset::typed::shop::v1 as clients;
use kubesmith_expected::verbs::clientset::typed::shop::v1::*;

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

/// Says of a client and its trait which methods they do not have.
macro_rules! absent {
    ($test:ident: $client:ty as $interface:path; $($method:ident)*) => {
        #[test]
        fn $test() {
            fn inherent(client: &$client) -> Vec<No> {
                vec![$(client.$method()),*]
            }
            fn bound<C: $interface>(client: &C) -> Vec<No> {
                vec![$(client.$method()),*]
            }
            let (_, _): (fn(&$client) -> Vec<No>, fn(&$client) -> Vec<No>) = (inherent, bound::<$client>);
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
absent!(all_namespaces: clients::SkipDeletes as Everything;
    create update update_status delete delete_collection get patch patch_subresource apply apply_status);

/// A bound that says nothing.
trait Everything {}

impl Everything for clients::SkipDeletes {}
