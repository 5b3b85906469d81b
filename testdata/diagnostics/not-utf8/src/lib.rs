pub mod latin;
