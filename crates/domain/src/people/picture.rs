//! The name of a user's picture. It is part of a URL that clients show to everyone, so it must not reveal who
//! the user is. Without the server's key, neither the name nor the picture leads to the `sub`, nor the `sub`
//! to them.

use std::fmt;

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use uuid::Uuid;

use crate::id::SubjectId;

/// The key from which the names of pictures are derived.
#[derive(Clone)]
pub struct PictureKey(Aes256);

/// The name of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureName([u8; 16]);

impl PictureKey {
    /// Makes a key from bytes that were derived for this purpose only.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Aes256::new(&bytes.into()))
    }

    /// The name of the picture of a `sub`, which is always the same: the `sub`, encrypted as the one block that it is. Without
    /// the key nothing leads from one to the other, and no two share a name. Userinfo returns it every time, and processors have
    /// instructions for AES.
    pub fn name_of(&self, subject: SubjectId) -> PictureName {
        let mut block = subject.as_uuid().into_bytes().into();
        self.0.encrypt_block(&mut block);
        PictureName(block.into())
    }
}

impl fmt::Debug for PictureKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PictureKey(..)")
    }
}

impl PictureName {
    /// Parses the name in a URL. Older builds named a picture by the user's id, with hyphens. Clients have
    /// stored such URLs, and someone who has one already knows the id. A name does not reveal whether a user
    /// exists, because every name has a picture.
    pub fn parse(text: &str) -> Option<Self> {
        let id = Uuid::try_parse(text).ok()?;
        let is_canonical =
            [id.simple().to_string(), id.hyphenated().to_string()].iter().any(|form| form == text);
        is_canonical.then(|| Self(id.into_bytes()))
    }

    /// The bytes that the picture is drawn from.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for PictureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Uuid::from_bytes(self.0).simple().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;
    use crate::identicon::identicon;

    /// F-14: anyone can see the URL of a picture.
    #[test]
    fn f_14_neither_the_name_nor_the_picture_follows_from_the_id() {
        let user = UserId::random([7; 16]).as_public();
        let name = PictureKey::new([1; 32]).name_of(user);
        assert_eq!(PictureName::parse(&name.to_string()), Some(name));
        assert_eq!(PictureKey::new([1; 32]).name_of(user), name);
        assert_ne!(PictureKey::new([2; 32]).name_of(user), name);
        assert_ne!(name.as_bytes(), user.as_uuid().as_bytes());
        let old = PictureName::parse(&user.to_string()).unwrap();
        assert_ne!(identicon(old.as_bytes()), identicon(name.as_bytes()));
    }

    #[test]
    fn other_spellings_of_a_name_are_none() {
        let name = PictureKey::new([1; 32]).name_of(UserId::random([7; 16]).as_public()).to_string();
        for text in [name.to_ascii_uppercase().as_str(), &name[1..], "", "x", &format!("{{{name}}}")] {
            assert_eq!(PictureName::parse(text), None, "{text}");
        }
    }
}
