//! Methods of clients in client-gen's notation.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +genclient
/// +genclient:method=GetScale,verb=get,subresource=scale,result=example.com/api/v1.Scale
/// +genclient:method=List,verb=list
/// +genclient:method=See,verb=get,input=WidgetSpec
/// +genclient:method=See,verb=list
/// +genclient:method=Sweep,verb=deleteCollection
/// +genclient:method=Bind,verb=create,subresource
/// +genclient:method=Bind
/// +genclient:method=,verb=get
/// +genclient:method:name=Bind
/// +genclient:methods=Bind,verb=create
/// +genclient:method=bind,verb=create
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
}
