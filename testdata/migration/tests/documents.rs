use std::time::Duration;

use documents::{Document, DocumentSpec};
use kube::Client;
use kube::api::{Api, PostParams};

#[tokio::test]
#[ignore = "needs a cluster with the CRD"]
async fn document_is_hidden() {
    let client = Client::try_default().await.unwrap();
    tokio::spawn(documents::controller::run(client.clone()));
    let documents = Api::<Document>::namespaced(client, "default");
    let spec = DocumentSpec { title: "Plans".to_owned(), hide: true };
    documents.create(&PostParams::default(), &Document::new("plans", spec)).await.unwrap();
    loop {
        let document = documents.get("plans").await.unwrap();
        if document.status.is_some_and(|status| status.hidden) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
