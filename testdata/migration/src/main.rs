#[tokio::main]
async fn main() -> anyhow::Result<()> {
    documents::controller::run(kube::Client::try_default().await?).await;
    Ok(())
}
