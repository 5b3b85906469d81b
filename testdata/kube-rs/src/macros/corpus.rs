//! Made by `tests/it/corpus.rs`: KUBESMITH_UPDATE=1 cargo test -p kubesmith-kube-compare corpus

use std::collections::BTreeMap;

use kube::{CustomResource, CustomResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::Kind;

macro_rules! plain0 {
    (never $x:tt) => { compile_error!("first rule"); };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$inner:meta])* $fv:vis $field:ident : [$($ty:tt)+]),* $(,)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        $vis struct $name { $($(#[$inner])* $fv $field: $($ty)+),* }
    };
}
plain0! {
    #[kube(group = "macros.example.com", version = "v1", kind = "Made0")]
    #[serde(rename_all = "camelCase")]
    pub struct Made0Spec {
        #[serde(rename = "x0")] pub field_0: [String],
        /// Field 1 of a type.
        pub part1: [String],
        /// Field 2 of a type.
        pub field_2: [Option<std::collections::BTreeSet<i64>>]
    }
}

macro_rules! literals1 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals1!("Made1", Made1Spec {
        part0 => BTreeMap<String, Vec<String>>;
        field_1 => BTreeMap<String, Vec<String>>;
        part2 => Vec<u8>;
        part3 => BTreeMap<String, Vec<String>>;
        part4 ("Text of part4.") => Vec<u8>;
});

macro_rules! build2 {
    ($kind:literal $name:ident $body:tt $(#[$meta:meta])*) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name $body
    };
}
pub(crate) use build2;
macro_rules! forward2 {
    ($kind:literal $name:ident { $($field:ident: $ty:ty),* }) => {
        $crate::macros::corpus::build2! { $kind $name { $(pub $field: $ty),* } #[serde(rename_all = "camelCase")] }
    };
}
forward2! { "Made2" Made2Spec {
        field_0: u16,
        part1: u16,
        part2: u16,
        r#try3: String
} }

macro_rules! variants3 {
    ($spec:ident, $name:ident: $($variant:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* })|+) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub enum $name { $($variant { $($(#[$meta])* $field: $ty),* }),+ }
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made3")]
        pub struct $spec { pub one: $name, pub more: Vec<$name> }
    };
}
variants3! { Made3Spec, Choice3: V0 {
        field_0: Option<i32>,
        part1: Option<Vec<Option<String>>>,
        field_2: String,
        r#try3: Vec<u8>
    } | V1 {
        #[schemars(range(min = 1 + 1, max = 40))] r#try0: u16,
        r#try1: Vec<Option<Shared>>,
        /// Field 2 of a type.
        #[serde(rename = "of-2")] part2: Vec<u8>,
        #[serde(rename = "x3")] #[serde(default, skip_serializing_if = "Option::is_none")] r#try3: Option<Vec<Option<String>>>,
        #[serde(rename = "of-4")] field_4: Option<std::collections::BTreeSet<i64>>
    } | V2 {
        #[serde(rename = "x0")] part0: BTreeMap<String, Vec<String>>
    } }

macro_rules! items4 {
    ({ $($item:item)* } $function:ident -> $ty:ty $body:block ; <$life:lifetime> $pattern:pat => $($end:tt)*) => {
        $($item)*
        fn $function() -> $ty $body
        pub fn look4<$life>(text: &$life str) -> &$life str { match text { $pattern => text, _ => "" } }
    };
}
items4! { {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "macros.example.com", version = "v1", kind = "Made4")]
    pub struct Made4Spec {
        #[serde(default = "given4")]
        pub given: String,
        #[serde(rename = "of-0")] pub r#try0: BTreeMap<String, Vec<String>>,
        /// Field 1 of a type.
        pub r#try1: Vec<u8>,
        /// Field 2 of a type.
        pub part2: Option<i32>,
        pub r#try3: BTreeMap<String, Vec<String>>
    }
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Beside4 { pub made: bool }
    } given4 -> String { "a".to_string() } ; <'a> "a" | "b" => end
}

macro_rules! define5 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define5! { defined5 {
        part0: Vec<u8>,
        r#try1: super::Shared,
        r#try2: String
} }
defined5! { "Made5" Made5Spec BTreeMap<String, Vec<String>> }

macro_rules! define6 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define6! { defined6 {
        r#try0: String,
        field_1: Shared,
        part2: BTreeMap<String, Vec<String>>,
        field_3: Vec<u8>
} }
defined6! { "Made6" Made6Spec u16 }

macro_rules! plain7 {
    (never $x:tt) => { compile_error!("first rule"); };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$inner:meta])* $fv:vis $field:ident : $ty:ty) =>* $( =>)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        $vis struct $name { $($(#[$inner])* $fv $field: $ty),* }
    };
}
plain7! {
    #[kube(group = "macros.example.com", version = "v1", kind = "Made7")]
    #[serde(rename_all = "camelCase")]
    pub struct Made7Spec {
        #[serde(rename = "of-0")] pub field_0: super::Shared =>
        #[serde(rename = "of-1")] pub r#try1: bool =>
        pub field_2: BTreeMap<String, Vec<String>> =>
        pub r#try3: BTreeMap<String, Vec<String>> =>
        #[serde(rename = "of-4")] pub field_4: Option<i32>
    }
}

macro_rules! plain8 {
    (never $x:tt) => { compile_error!("first rule"); };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$inner:meta])* $fv:vis $field:ident : $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        $vis struct $name { $($(#[$inner])* $fv $field: $ty),* }
    };
}
plain8! {
    #[kube(group = "macros.example.com", version = "v1", kind = "Made8")]
    #[serde(rename_all = "camelCase")]
    pub struct Made8Spec {
        pub field_0: BTreeMap<String, Vec<String>>;
        pub r#try1: Shared;
        #[serde(rename = "x2")] pub part2: BTreeMap<String, Vec<String>>;
    }
}

macro_rules! literals9 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals9!("Made9", Made9Spec {
        r#try0 ("Text of r#try0.") => bool;
        field_1 ("Text of field_1.") => super::Shared;
        field_2 => super::Shared;
        r#try3 => u16;
        part4 => u16;
});

macro_rules! munch10 {
    (@go $name:ident [$($done:tt)*]) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made10")]
        pub struct $name { $($done)* }
    };
    (@go $name:ident [$($done:tt)*] $(#[$meta:meta])* $field:ident : $ty:ty, $($rest:tt)*) => {
        munch10! { @go $name [$($done)* $(#[$meta])* pub $field: $ty,] $($rest)* }
    };
    ($name:ident: $($rest:tt)*) => { munch10! { @go $name [] $($rest)* } };
}
munch10! { Made10Spec:
        /// Field 0 of a type.
        field_0: Vec<Option<Shared>>,
}

macro_rules! variants11 {
    ($spec:ident, $name:ident: $($variant:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* })|+) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub enum $name { $($variant { $($(#[$meta])* $field: $ty),* }),+ }
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made11")]
        pub struct $spec { pub one: $name, pub more: Vec<$name> }
    };
}
variants11! { Made11Spec, Choice11: V0 {
        /// Field 0 of a type.
        #[serde(rename = "of-0")] part0: super::Shared,
        /// Field 1 of a type.
        #[serde(rename = "x1")] r#try1: String,
        /// Field 2 of a type.
        #[serde(default, skip_serializing_if = "Option::is_none")] r#try2: Option<std::collections::BTreeSet<i64>>,
        /// Field 3 of a type.
        part3: bool
    } | V1 {
        #[serde(rename = "x0")] r#try0: Option<i32>,
        /// Field 1 of a type.
        #[serde(rename = "x1")] field_1: Vec<Option<Shared>>,
        r#try2: Vec<Option<Shared>>,
        #[serde(rename = "of-3")] field_3: Vec<u8>,
        /// Field 4 of a type.
        part4: [i32; 2]
    } | V2 {
        r#try0: bool,
        /// Field 1 of a type.
        #[serde(rename = "of-1")] r#try1: [i32; 2],
        #[serde(default, skip_serializing_if = "Option::is_none")] field_2: Option<std::collections::BTreeSet<i64>>,
        #[serde(rename = "x3")] part3: super::Shared
    } }

macro_rules! variants12 {
    ($spec:ident, $name:ident: $($variant:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* })|+) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub enum $name { $($variant { $($(#[$meta])* $field: $ty),* }),+ }
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made12")]
        pub struct $spec { pub one: $name, pub more: Vec<$name> }
    };
}
variants12! { Made12Spec, Choice12: V0 {
        /// Field 0 of a type.
        #[serde(rename = "of-0")] part0: Shared,
        #[serde(rename = "of-1")] field_1: Vec<Option<Shared>>,
        /// Field 2 of a type.
        #[serde(rename = "of-2")] r#try2: Vec<u8>,
        /// Field 3 of a type.
        #[serde(rename = "x3")] r#try3: Shared,
        #[serde(rename = "of-4")] r#try4: super::Shared
    } }

macro_rules! items13 {
    ({ $($item:item)* } $function:ident -> $ty:ty $body:block ; <$life:lifetime> $pattern:pat => $($end:tt)*) => {
        $($item)*
        fn $function() -> $ty $body
        pub fn look13<$life>(text: &$life str) -> &$life str { match text { $pattern => text, _ => "" } }
    };
}
items13! { {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "macros.example.com", version = "v1", kind = "Made13")]
    pub struct Made13Spec {
        #[serde(default = "given13")]
        pub given: i32,
        pub field_0: Vec<u8>,
        #[serde(rename = "x1")] pub part1: String
    }
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Beside13 { pub made: bool }
    } given13 -> i32 { 5 + 2 * 3 } ; <'a> "a" | "b" => end
}

macro_rules! define14 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define14! { defined14 {
        part0: Vec<Option<Shared>>,
        field_1: Option<i32>,
        part2: Option<std::collections::BTreeSet<i64>>,
        field_3: String
} }
defined14! { "Made14" Made14Spec Option<std::collections::BTreeSet<i64>> }

macro_rules! plain15 {
    (never $x:tt) => { compile_error!("first rule"); };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$inner:meta])* $fv:vis $field:ident : $ty:ty),* $(,)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        $vis struct $name { $($(#[$inner])* $fv $field: $ty),* }
    };
}
plain15! {
    #[kube(group = "macros.example.com", version = "v1", kind = "Made15")]
    #[serde(rename_all = "PascalCase")]
    pub struct Made15Spec {
        /// Field 0 of a type.
        #[serde(default, skip_serializing_if = "Option::is_none")] pub part0: Option<i32>,
        /// Field 1 of a type.
        #[serde(rename = "x1")] pub r#try1: Vec<Option<Shared>>,
        #[serde(rename = "x2")] pub part2: super::Shared
    }
}

macro_rules! literals16 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals16!("Made16", Made16Spec {
        r#try0 ("Text of r#try0.") => String;
});

macro_rules! literals17 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals17!("Made17", Made17Spec {
        part0 ("Text of part0.") => Option<i32>;
        part1 => Vec<Option<Shared>>;
});

macro_rules! build18 {
    ($kind:literal $name:ident $body:tt $(#[$meta:meta])*) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name $body
    };
}
pub(crate) use build18;
macro_rules! forward18 {
    ($kind:literal $name:ident { $($field:ident: $ty:ty),* }) => {
        $crate::macros::corpus::build18! { $kind $name { $(pub $field: $ty),* } #[serde(rename_all = "camelCase")] }
    };
}
forward18! { "Made18" Made18Spec {
        r#try0: Option<i32>,
        field_1: Vec<Option<Shared>>,
        part2: bool,
        r#try3: Option<std::collections::BTreeSet<i64>>
} }

macro_rules! variants19 {
    ($spec:ident, $name:ident: $($variant:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* })|+) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub enum $name { $($variant { $($(#[$meta])* $field: $ty),* }),+ }
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made19")]
        pub struct $spec { pub one: $name, pub more: Vec<$name> }
    };
}
variants19! { Made19Spec, Choice19: V0 {
        /// Field 0 of a type.
        r#try0: Vec<u8>,
        /// Field 1 of a type.
        field_1: String
    } | V1 {
        /// Field 0 of a type.
        #[serde(rename = "of-0")] part0: Option<i32>,
        /// Field 1 of a type.
        #[serde(rename = "of-1")] #[schemars(range(min = 1 + 3, max = 40))] part1: u16,
        r#try2: BTreeMap<String, Vec<String>>,
        /// Field 3 of a type.
        #[serde(rename = "x3")] field_3: Shared,
        r#try4: Shared
    } | V2 {
        #[serde(rename = "x0")] field_0: Shared,
        #[serde(rename = "x1")] r#try1: Option<Vec<Option<String>>>,
        field_2: [i32; 2]
    } }

macro_rules! variants20 {
    ($spec:ident, $name:ident: $($variant:ident { $($(#[$meta:meta])* $field:ident: $ty:ty),* })|+) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub enum $name { $($variant { $($(#[$meta])* $field: $ty),* }),+ }
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made20")]
        pub struct $spec { pub one: $name, pub more: Vec<$name> }
    };
}
variants20! { Made20Spec, Choice20: V0 {
        /// Field 0 of a type.
        r#try0: Option<Vec<Option<String>>>,
        /// Field 1 of a type.
        #[serde(rename = "of-1")] r#try1: Shared,
        /// Field 2 of a type.
        #[serde(rename = "x2")] part2: [i32; 2],
        field_3: bool,
        field_4: bool
    } | V1 {
        part0: Shared,
        #[serde(rename = "x1")] part1: [i32; 2],
        field_2: super::Shared,
        /// Field 3 of a type.
        #[schemars(range(min = 1 + 0, max = 40))] part3: u16,
        /// Field 4 of a type.
        r#try4: Vec<u8>
    } | V2 {
        #[serde(rename = "x0")] part0: super::Shared,
        /// Field 1 of a type.
        part1: String,
        part2: super::Shared,
        /// Field 3 of a type.
        part3: [i32; 2]
    } }

macro_rules! define21 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define21! { defined21 {
        field_0: String
} }
defined21! { "Made21" Made21Spec Option<i32> }

macro_rules! bounds22 {
    ($name:ident: $($low:ident = $value:expr, $field:ident);+) => {
        $(const $low: i32 = $value * 2;)+
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made22")]
        pub struct $name { $(#[schemars(range(min = $low, max = $value + 100))] pub $field: i32),+ }
    };
}
bounds22! { Made22Spec: LOW22_0 = 9 + 1, field_0; LOW22_1 = 11 + 1, field_1 }

macro_rules! bounds23 {
    ($name:ident: $($low:ident = $value:expr, $field:ident);+) => {
        $(const $low: i32 = $value * 2;)+
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made23")]
        pub struct $name { $(#[schemars(range(min = $low, max = $value + 100))] pub $field: i32),+ }
    };
}
bounds23! { Made23Spec: LOW23_0 = 0 + 1, field_0 }

macro_rules! literals24 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals24!("Made24", Made24Spec {
        part0 => Vec<Option<Shared>>;
        r#try1 ("Text of r#try1.") => u16;
        r#try2 => super::Shared;
        part3 ("Text of part3.") => Option<Vec<Option<String>>>;
        r#try4 ("Text of r#try4.") => [i32; 2];
});

macro_rules! literals25 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals25!("Made25", Made25Spec {
        r#try0 ("Text of r#try0.") => Vec<u8>;
});

macro_rules! munch26 {
    (@go $name:ident [$($done:tt)*]) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made26")]
        pub struct $name { $($done)* }
    };
    (@go $name:ident [$($done:tt)*] $(#[$meta:meta])* $field:ident : $ty:ty, $($rest:tt)*) => {
        munch26! { @go $name [$($done)* $(#[$meta])* pub $field: $ty,] $($rest)* }
    };
    ($name:ident: $($rest:tt)*) => { munch26! { @go $name [] $($rest)* } };
}
munch26! { Made26Spec:
        /// Field 0 of a type.
        #[serde(rename = "x0")] field_0: Shared,
        /// Field 1 of a type.
        #[serde(rename = "x1")] part1: super::Shared,
        field_2: String,
        #[serde(rename = "of-3")] #[schemars(range(min = 1 + 2, max = 40))] r#try3: u16,
}

macro_rules! build27 {
    ($kind:literal $name:ident $body:tt $(#[$meta:meta])*) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name $body
    };
}
pub(crate) use build27;
macro_rules! forward27 {
    ($kind:literal $name:ident { $($field:ident: $ty:ty),* }) => {
        $crate::macros::corpus::build27! { $kind $name { $(pub $field: $ty),* } #[serde(rename_all = "camelCase")] }
    };
}
forward27! { "Made27" Made27Spec {
        part0: u16
} }

macro_rules! items28 {
    ({ $($item:item)* } $function:ident -> $ty:ty $body:block ; <$life:lifetime> $pattern:pat => $($end:tt)*) => {
        $($item)*
        fn $function() -> $ty $body
        pub fn look28<$life>(text: &$life str) -> &$life str { match text { $pattern => text, _ => "" } }
    };
}
items28! { {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "macros.example.com", version = "v1", kind = "Made28")]
    pub struct Made28Spec {
        #[serde(default = "given28")]
        pub given: i32,
        pub field_0: Shared,
        /// Field 1 of a type.
        pub part1: Option<Vec<Option<String>>>
    }
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Beside28 { pub made: bool }
    } given28 -> i32 { 5 + 2 * 3 } ; <'a> "a" | "b" => end
}

macro_rules! define29 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define29! { defined29 {
        part0: Vec<u8>,
        part1: bool,
        part2: Option<i32>,
        r#try3: bool
} }
defined29! { "Made29" Made29Spec Option<i32> }

macro_rules! define30 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define30! { defined30 {
        field_0: Option<i32>,
        part1: Option<std::collections::BTreeSet<i64>>,
        part2: Option<std::collections::BTreeSet<i64>>
} }
defined30! { "Made30" Made30Spec [i32; 2] }

macro_rules! bounds31 {
    ($name:ident: $($low:ident = $value:expr, $field:ident);+) => {
        $(const $low: i32 = $value * 2;)+
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made31")]
        pub struct $name { $(#[schemars(range(min = $low, max = $value + 100))] pub $field: i32),+ }
    };
}
bounds31! { Made31Spec: LOW31_0 = 12 + 1, field_0; LOW31_1 = 9 + 1, field_1; LOW31_2 = 15 + 1, field_2 }

macro_rules! literals32 {
    ($kind:literal, $name:ident { $($field:ident $(($doc:literal))? => $ty:ty);* $(;)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name { $($(#[doc = $doc])? pub $field: $ty),* }
    };
}
literals32!("Made32", Made32Spec {
        field_0 => super::Shared;
});

macro_rules! munch33 {
    (@go $name:ident [$($done:tt)*]) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made33")]
        pub struct $name { $($done)* }
    };
    (@go $name:ident [$($done:tt)*] $(#[$meta:meta])* $field:ident : $ty:ty, $($rest:tt)*) => {
        munch33! { @go $name [$($done)* $(#[$meta])* pub $field: $ty,] $($rest)* }
    };
    ($name:ident: $($rest:tt)*) => { munch33! { @go $name [] $($rest)* } };
}
munch33! { Made33Spec:
        #[serde(rename = "of-0")] field_0: super::Shared,
        /// Field 1 of a type.
        #[serde(rename = "of-1")] field_1: [i32; 2],
        /// Field 2 of a type.
        #[serde(rename = "x2")] field_2: BTreeMap<String, Vec<String>>,
        /// Field 3 of a type.
        #[serde(rename = "x3")] r#try3: Option<Vec<Option<String>>>,
}

macro_rules! munch34 {
    (@go $name:ident [$($done:tt)*]) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made34")]
        pub struct $name { $($done)* }
    };
    (@go $name:ident [$($done:tt)*] $(#[$meta:meta])* $field:ident : $ty:ty, $($rest:tt)*) => {
        munch34! { @go $name [$($done)* $(#[$meta])* pub $field: $ty,] $($rest)* }
    };
    ($name:ident: $($rest:tt)*) => { munch34! { @go $name [] $($rest)* } };
}
munch34! { Made34Spec:
        field_0: Option<i32>,
        /// Field 1 of a type.
        part1: bool,
        /// Field 2 of a type.
        r#try2: Shared,
        /// Field 3 of a type.
        part3: Vec<u8>,
        /// Field 4 of a type.
        part4: Option<Vec<Option<String>>>,
}

macro_rules! build35 {
    ($kind:literal $name:ident $body:tt $(#[$meta:meta])*) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
        pub struct $name $body
    };
}
pub(crate) use build35;
macro_rules! forward35 {
    ($kind:literal $name:ident { $($field:ident: $ty:ty),* }) => {
        $crate::macros::corpus::build35! { $kind $name { $(pub $field: $ty),* } #[serde(rename_all = "camelCase")] }
    };
}
forward35! { "Made35" Made35Spec {
        part0: Option<i32>,
        part1: Option<std::collections::BTreeSet<i64>>,
        field_2: u16,
        part3: Option<Vec<Option<String>>>
} }

macro_rules! items36 {
    ({ $($item:item)* } $function:ident -> $ty:ty $body:block ; <$life:lifetime> $pattern:pat => $($end:tt)*) => {
        $($item)*
        fn $function() -> $ty $body
        pub fn look36<$life>(text: &$life str) -> &$life str { match text { $pattern => text, _ => "" } }
    };
}
items36! { {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "macros.example.com", version = "v1", kind = "Made36")]
    pub struct Made36Spec {
        #[serde(default = "given36")]
        pub given: i32,
        pub r#try0: [i32; 2],
        #[serde(rename = "of-1")] pub r#try1: BTreeMap<String, Vec<String>>,
        pub r#try2: Vec<Option<Shared>>
    }
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Beside36 { pub made: bool }
    } given36 -> i32 { 5 + 2 * 3 } ; <'a> "a" | "b" => end
}

macro_rules! define37 {
    ($made:ident { $($field:ident: $ty:ty),* }) => {
        macro_rules! $made {
            ($kind:literal $name:ident $own:ty) => {
                #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
                #[kube(group = "macros.example.com", version = "v1", kind = $kind)]
                pub struct $name { $(pub $field: $ty,)* pub own: $own }
            };
        }
    };
}
define37! { defined37 {
        r#try0: Vec<u8>,
        r#try1: Vec<u8>
} }
defined37! { "Made37" Made37Spec Option<std::collections::BTreeSet<i64>> }

macro_rules! bounds38 {
    ($name:ident: $($low:ident = $value:expr, $field:ident);+) => {
        $(const $low: i32 = $value * 2;)+
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "macros.example.com", version = "v1", kind = "Made38")]
        pub struct $name { $(#[schemars(range(min = $low, max = $value + 100))] pub $field: i32),+ }
    };
}
bounds38! { Made38Spec: LOW38_0 = 19 + 1, field_0; LOW38_1 = 4 + 1, field_1 }

macro_rules! plain39 {
    (never $x:tt) => { compile_error!("first rule"); };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$inner:meta])* $fv:vis $field:ident : [$($ty:tt)+]),* $(,)? }) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        $vis struct $name { $($(#[$inner])* $fv $field: $($ty)+),* }
    };
}
plain39! {
    #[kube(group = "macros.example.com", version = "v1", kind = "Made39")]
    #[serde(rename_all = "camelCase")]
    pub struct Made39Spec {
        /// Field 0 of a type.
        #[serde(rename = "of-0")] pub field_0: [Option<Vec<Option<String>>>],
        /// Field 1 of a type.
        pub field_1: [[i32; 2]],
        /// Field 2 of a type.
        pub r#try2: [Vec<Option<Shared>>],
        #[serde(rename = "of-3")] pub part3: [BTreeMap<String, Vec<String>>],
        #[serde(rename = "of-4")] #[serde(default, skip_serializing_if = "Option::is_none")] pub r#try4: [Option<Vec<Option<String>>>]
    }
}

/// The kinds.
pub(crate) fn kinds() -> Vec<Kind> {
    vec![
        Kind { module: "macros::corpus", root: "Made0", crd: Made0::crd },
        Kind { module: "macros::corpus", root: "Made1", crd: Made1::crd },
        Kind { module: "macros::corpus", root: "Made2", crd: Made2::crd },
        Kind { module: "macros::corpus", root: "Made3", crd: Made3::crd },
        Kind { module: "macros::corpus", root: "Made4", crd: Made4::crd },
        Kind { module: "macros::corpus", root: "Made5", crd: Made5::crd },
        Kind { module: "macros::corpus", root: "Made6", crd: Made6::crd },
        Kind { module: "macros::corpus", root: "Made7", crd: Made7::crd },
        Kind { module: "macros::corpus", root: "Made8", crd: Made8::crd },
        Kind { module: "macros::corpus", root: "Made9", crd: Made9::crd },
        Kind { module: "macros::corpus", root: "Made10", crd: Made10::crd },
        Kind { module: "macros::corpus", root: "Made11", crd: Made11::crd },
        Kind { module: "macros::corpus", root: "Made12", crd: Made12::crd },
        Kind { module: "macros::corpus", root: "Made13", crd: Made13::crd },
        Kind { module: "macros::corpus", root: "Made14", crd: Made14::crd },
        Kind { module: "macros::corpus", root: "Made15", crd: Made15::crd },
        Kind { module: "macros::corpus", root: "Made16", crd: Made16::crd },
        Kind { module: "macros::corpus", root: "Made17", crd: Made17::crd },
        Kind { module: "macros::corpus", root: "Made18", crd: Made18::crd },
        Kind { module: "macros::corpus", root: "Made19", crd: Made19::crd },
        Kind { module: "macros::corpus", root: "Made20", crd: Made20::crd },
        Kind { module: "macros::corpus", root: "Made21", crd: Made21::crd },
        Kind { module: "macros::corpus", root: "Made22", crd: Made22::crd },
        Kind { module: "macros::corpus", root: "Made23", crd: Made23::crd },
        Kind { module: "macros::corpus", root: "Made24", crd: Made24::crd },
        Kind { module: "macros::corpus", root: "Made25", crd: Made25::crd },
        Kind { module: "macros::corpus", root: "Made26", crd: Made26::crd },
        Kind { module: "macros::corpus", root: "Made27", crd: Made27::crd },
        Kind { module: "macros::corpus", root: "Made28", crd: Made28::crd },
        Kind { module: "macros::corpus", root: "Made29", crd: Made29::crd },
        Kind { module: "macros::corpus", root: "Made30", crd: Made30::crd },
        Kind { module: "macros::corpus", root: "Made31", crd: Made31::crd },
        Kind { module: "macros::corpus", root: "Made32", crd: Made32::crd },
        Kind { module: "macros::corpus", root: "Made33", crd: Made33::crd },
        Kind { module: "macros::corpus", root: "Made34", crd: Made34::crd },
        Kind { module: "macros::corpus", root: "Made35", crd: Made35::crd },
        Kind { module: "macros::corpus", root: "Made36", crd: Made36::crd },
        Kind { module: "macros::corpus", root: "Made37", crd: Made37::crd },
        Kind { module: "macros::corpus", root: "Made38", crd: Made38::crd },
        Kind { module: "macros::corpus", root: "Made39", crd: Made39::crd },
    ]
}
