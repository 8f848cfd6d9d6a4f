//! Objects: which keys they have, and what becomes of any other key.

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer};
use serde_json::value::RawValue;

use super::{Text, missing};

/// What a key holds. `null` counts as the key's default wherever it has no meaning of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Field<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// The key is there and says `null`.
    Null,
    /// The key's value.
    Is(T),
}

impl<T> Field<T> {
    /// The value, if there is one.
    pub(crate) fn get(self) -> Option<T> {
        match self {
            Field::Is(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }

    /// The value, if there is one.
    pub(crate) fn as_ref(&self) -> Option<&T> {
        match self {
            Field::Is(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }

    /// Whether there is a value.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self, Field::Is(_))
    }

    /// Whether the key is not there.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }

    /// The value of a key that has no default.
    pub(crate) fn require(self, path: &str, key: &str) -> crate::Result<T> {
        self.get().ok_or_else(|| missing(path, key))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Field<T>, D::Error> {
        let value = Option::<T>::deserialize(deserializer)?;
        Ok(value.map_or(Field::Null, Field::Is))
    }
}

/// Keys that start with `x_`, in the order of the document.
pub(crate) type Extensions<'a> = Vec<(Text<'a>, &'a RawValue)>;

/// What an object does with keys that start with `x_`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// They are handed on.
    Kept,
    /// They are read and forgotten.
    Dropped,
    /// They are unknown keys like any other.
    Refused,
}

/// Fails at the value of the key just read, so that the error's path ends in that key.
pub(crate) struct Refuse(pub(crate) String);

impl<'de> DeserializeSeed<'de> for Refuse {
    type Value = std::convert::Infallible;

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<Self::Value, D::Error> {
        Err(de::Error::custom(self.0))
    }
}

/// Declares a document object as a table of keys and their types, and how it is read.
///
/// Every field is a [`Field`] named like its key; `extensions` holds the foreign keys if they
/// are `Kept`.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $what:literal, $foreign:ident { $($key:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(crate) struct $name<'de> {
            $(pub(crate) $key: $crate::format::json::Field<$type>,)+
            pub(crate) extensions: $crate::format::json::Extensions<'de>,
        }

        impl $name<'_> {
            /// The keys, in the order in which they are written.
            pub(crate) const KEYS: &'static [&'static str] = &[$(stringify!($key)),+];
        }

        impl<'de> serde::Deserialize<'de> for $name<'de> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                struct Keys;
                impl<'de> serde::de::Visitor<'de> for Keys {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!($what, ", which is an object"))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> std::result::Result<Self::Value, A::Error> {
                        use $crate::format::json::{Field, Foreign, Refuse, Text};
                        const FOREIGN: Foreign = Foreign::$foreign;
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<Text<'de>>()? {
                            match &*key {
                                $(stringify!($key) => {
                                    if !object.$key.is_absent() {
                                        let twice = Refuse("the key stands twice".to_owned());
                                        match map.next_value_seed(twice)? {}
                                    }
                                    object.$key = map.next_value::<Field<$type>>()?;
                                })+
                                foreign if foreign.starts_with("x_") && FOREIGN != Foreign::Refused => {
                                    if FOREIGN == Foreign::Kept {
                                        object.extensions.push((key, map.next_value()?));
                                    } else {
                                        map.next_value::<serde::de::IgnoredAny>()?;
                                    }
                                }
                                _ => {
                                    let keys = $name::KEYS.join(", ");
                                    let unknown = format!(concat!("unknown key; ", $what, " has {}"), keys);
                                    match map.next_value_seed(Refuse(unknown))? {}
                                }
                            }
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(Keys)
            }
        }
    };
}
pub(crate) use object;
