//! Objects: which keys they have, and what becomes of any other key.

use super::{Raw, Read, Reader, Text, Value, missing};

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

    /// The value of a key that has no default.
    pub(crate) fn require(self, path: &str, key: &str) -> crate::Result<T> {
        self.get().ok_or_else(|| missing(path, key))
    }
}

impl<'a, T: Value<'a>> Value<'a> for Field<T> {
    fn read(json: &mut Reader<'a>) -> Read<Field<T>> {
        if json.null() {
            return Ok(Field::Null);
        }
        T::read(json).map(Field::Is)
    }
}

/// Keys that start with `x_`, in the order of the document.
pub(crate) type Extensions<'a> = Vec<(Text<'a>, Raw<'a>)>;

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

        impl<'de> $crate::format::json::Value<'de> for $name<'de> {
            fn read(
                json: &mut $crate::format::json::Reader<'de>,
            ) -> $crate::format::json::Read<Self> {
                use $crate::format::json::{Field, Foreign, Shape};
                #[allow(non_camel_case_types, reason = "the keys are those of the file")]
                enum Key {
                    $($key),+
                }
                const SHAPE: Shape = Shape {
                    what: $what,
                    keys: $name::KEYS,
                    foreign: Foreign::$foreign,
                };
                let mut object = $name::default();
                let mut extensions = Vec::new();
                json.members(&SHAPE, &mut extensions, &mut |json, key| {
                    $(if key == Key::$key as usize {
                        object.$key = Field::read(json)?;
                    })+
                    Ok(())
                })?;
                object.extensions = extensions;
                Ok(object)
            }
        }
    };
}
pub(crate) use object;
