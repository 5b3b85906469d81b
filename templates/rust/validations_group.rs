//! Validation of the kinds of the group `__GroupTitle__`.

#[each(version)]
pub mod __version__;
