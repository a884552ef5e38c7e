//! The forms of the rows in `leaves.rs`: a quantity, a choice among words, a choice with data.

/// A quantity that always applies, or (`?`) one that depends on the kind of its group.
macro_rules! quantity {
    ($path:literal, $unit:ident, $place:ident, |$c:ident| $field:expr) => {
        quantity!($path, $unit, |$c| Some(Place::$place(&mut $field)))
    };
    ($path:literal, $unit:ident, |$c:ident| $place:expr) => {
        Leaf { path: $path, access: Access::Quantity { unit: Unit::$unit, place: |$c| $place } }
    };
}

/// A choice among variants without data.
macro_rules! choice {
    ($path:literal, |$c:ident| $place:expr, $($word:literal => $variant:path),+) => {
        Leaf {
            path: $path,
            access: Access::Choice {
                words: &[$($word),+],
                get: |$c| {
                    let place = $place?;
                    Some(match place { $($variant => $word),+ })
                },
                set: |$c, word| {
                    let Some(place) = ({ $place }) else { return };
                    $(if word == $word { *place = $variant; })+
                },
            },
        }
    };
}

/// A choice among variants with data, which start with their defaults; variants that no word names leave the leaf without a value.
macro_rules! kind {
    ($path:literal, |$c:ident| $field:expr, $($word:literal => $pattern:pat => $default:expr),+ $(; $unnamed:pat)? $(,)?) => {
        Leaf {
            path: $path,
            access: Access::Choice {
                words: &[$($word),+],
                get: |$c| Some(match $field { $($pattern => $word),+ $(, $unnamed => return None)? }),
                set: |$c, word| { $(if word == $word { $field = $default; })+ },
            },
        }
    };
}

pub(crate) use {choice, kind, quantity};
