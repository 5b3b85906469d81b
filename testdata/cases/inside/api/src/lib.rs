//! A crate that holds both its types and what is generated from them.

pub mod generated;
pub mod v1;

#[cfg(test)]
mod tests {
    use crate::generated::clientset::fake::FakeClientset;
    use crate::v1::Cart;

    #[tokio::test]
    async fn the_fake_clientset_is_there_in_tests() {
        let mut cart = Cart::default();
        cart.metadata.name = Some("full".to_owned());
        let clients = FakeClientset::new([cart]).expect("a fake");
        let read = clients.shop_v1().carts().namespace("default").get("full").await.expect("a cart");
        assert_eq!(read.spec.size, 0);
        assert_eq!(clients.actions()[0].to_string(), "get carts.shop.example.com default/full");
    }
}
