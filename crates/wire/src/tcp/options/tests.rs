//! Tables of option fields, good and bad, and the model of a field as a list of options.

use super::*;
use proptest::prelude::*;
use test_case::test_case;

fn read(field: &[u8]) -> Result<Options, Malformed> {
    let any = Options::read_any(field);
    if let Some(usual) = Options::read_usual(field) {
        assert_eq!(Ok(usual), any, "the short cut and the loop agree");
    }
    any
}

fn written(options: &Options) -> Vec<u8> {
    let mut out = [0xee; MAX_OPTIONS];
    let len = options.write(&mut out);
    out[..len].to_vec()
}

const STAMPS: Timestamps = Timestamps { tsval: 0x01020304, tsecr: 0x05060708 };

fn asked(kind: FastOpenKind, cookie: &[u8]) -> Option<FastOpen> {
    Some(FastOpen { kind, cookie: crate::Cookie::new(cookie) })
}

fn blocks(count: u32) -> SackBlocks {
    let mut sack = SackBlocks::NONE;
    for i in 0..count {
        assert!(sack.push(SeqRange::new(SeqNum(i * 16), SeqNum(i * 16 + 8))));
    }
    sack
}

//= specs/rfc7413.md#option
//= type=test
//# A cookie has 4 to 16 bytes, an even number of them.
//= specs/rfc7413.md#option
//= type=test
//# An option without a cookie asks for one.
//= specs/rfc7413.md#option
//= type=test
//# What the option's length makes no cookie is ignored.
// RFC 9293 MUST-4, MUST-5, MUST-6, MUST-64: any option, any order, any alignment.
#[test_case(&[] => Options::default(); "no options")]
#[test_case(&[1, 1, 1, 1] => Options::default(); "nothing but padding")]
#[test_case(&[0, 2, 0, 0] => Options::default(); "what follows the end is not an option")]
#[test_case(&[2, 4, 5, 0xb4] => Options { mss: Some(1460), ..Options::default() }; "MSS")]
#[test_case(&[1, 2, 4, 5, 0xb4, 0, 0, 0] => Options { mss: Some(1460), ..Options::default() }; "MSS off its alignment")]
#[test_case(&[2, 4, 0, 0] => Options { mss: Some(0), ..Options::default() }; "a silly MSS is passed on")]
#[test_case(&[3, 3, 255, 0] => Options { window_scale: Some(255), ..Options::default() }; "a silly shift is passed on")]
#[test_case(&[2, 4, 5, 0xb4, 3, 3, 7, 0] => Options { mss: Some(1460), window_scale: Some(7), ..Options::default() }; "MSS and shift unpadded")]
#[test_case(&[3, 3, 7, 2, 4, 5, 0xb4, 0] => Options { mss: Some(1460), window_scale: Some(7), ..Options::default() }; "shift before MSS")]
#[test_case(&[4, 2, 0, 0] => Options { sack_permitted: true, ..Options::default() }; "SACK permitted")]
#[test_case(&[1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8] => Options { timestamps: Some(STAMPS), ..Options::default() }; "timestamps padded in front")]
#[test_case(&[8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0] => Options { timestamps: Some(STAMPS), ..Options::default() }; "timestamps padded behind")]
#[test_case(&[1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7] => Options { timestamps: Some(STAMPS), window_scale: Some(7), ..Options::default() }; "more behind the timestamps")]
#[test_case(&[1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 8] => Options { sack: blocks(1), ..Options::default() }; "one SACK block")]
#[test_case(&[253, 2, 4, 2] => Options { sack_permitted: true, ..Options::default() }; "an unknown kind without a body")]
#[test_case(&[253, 6, 2, 4, 0, 0, 4, 2] => Options { sack_permitted: true, ..Options::default() }; "an unknown kind whose body looks like an option")]
#[test_case(&[34, 2, 1, 1] => Options { fast_open: asked(FastOpenKind::Assigned, &[]), ..Options::default() }; "a request for a cookie")]
#[test_case(&[34, 6, 1, 2, 3, 4, 1, 1] => Options { fast_open: asked(FastOpenKind::Assigned, &[1, 2, 3, 4]), ..Options::default() }; "a cookie")]
#[test_case(&[254, 4, 0xf9, 0x89] => Options { fast_open: asked(FastOpenKind::Experimental, &[]), ..Options::default() }; "a request by the experiment's number")]
#[test_case(&[254, 8, 0xf9, 0x89, 1, 2, 3, 4] => Options { fast_open: asked(FastOpenKind::Experimental, &[1, 2, 3, 4]), ..Options::default() }; "a cookie by the experiment's number")]
#[test_case(&[254, 8, 0xf9, 0x88, 1, 2, 3, 4] => Options::default(); "another experiment")]
#[test_case(&[254, 2, 1, 1] => Options::default(); "an experiment without a number")]
#[test_case(&[34, 4, 1, 2] => Options::default(); "a cookie that is too short")]
#[test_case(&[34, 7, 1, 2, 3, 4, 5, 1] => Options::default(); "a cookie of odd length")]
#[test_case(&[34, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8] => Options::default(); "a cookie that is too long")]
#[test_case(&[34, 6, 1, 2, 3, 4, 34, 4, 1, 2] => Options { fast_open: asked(FastOpenKind::Assigned, &[1, 2, 3, 4]), ..Options::default() }; "what is ignored replaces nothing")]
#[test_case(&[2, 4, 0, 1, 2, 4, 0, 2] => Options { mss: Some(2), ..Options::default() }; "of two the last counts")]
fn reads(field: &[u8]) -> Options {
    read(field).unwrap()
}

// RFC 9293 MUST-7.
#[test_case(&[2, 0, 0, 0]; "length 0 of a known kind")]
#[test_case(&[253, 0, 0, 0]; "length 0 of an unknown kind")]
#[test_case(&[2, 1, 0, 0]; "length 1 of a known kind")]
#[test_case(&[253, 1, 0, 0]; "length 1 of an unknown kind")]
#[test_case(&[1, 1, 1, 2]; "no room for the length")]
#[test_case(&[253, 5, 0, 0]; "an unknown kind beyond the field")]
#[test_case(&[253, 255, 0, 0]; "far beyond the field")]
#[test_case(&[1, 2, 4, 5]; "MSS beyond the field")]
#[test_case(&[2, 3, 5, 0]; "MSS too short")]
#[test_case(&[2, 5, 5, 0xb4, 0, 0, 0, 0]; "MSS too long")]
#[test_case(&[3, 2, 0, 0]; "shift too short")]
#[test_case(&[3, 4, 7, 0]; "shift too long")]
#[test_case(&[4, 3, 0, 0]; "SACK permitted with a body")]
#[test_case(&[5, 2, 0, 0]; "SACK without a block")]
#[test_case(&[5, 6, 0, 0, 0, 0, 0, 0]; "SACK with half a block")]
#[test_case(&[1, 1, 8, 9, 1, 2, 3, 4, 5, 6, 7, 0]; "timestamps too short")]
#[test_case(&[1, 1, 8, 10, 1, 2, 3, 4]; "timestamps beyond the field")]
#[test_case(&[1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 0]; "behind good timestamps")]
fn refuses(field: &[u8]) {
    assert_eq!(read(field), Err(Malformed::OptionLength));
}

#[test_case(4, Options::default() => 4; "four blocks fit alone")]
#[test_case(4, Options { timestamps: Some(STAMPS), ..Options::default() } => 3; "three beside timestamps")]
#[test_case(4, Options { mss: Some(1), ..Options::default() } => 4; "four beside MSS")]
#[test_case(4, Options { mss: Some(1), timestamps: Some(STAMPS), sack_permitted: true, window_scale: Some(1), ..Options::default() } => 2; "two beside everything")]
#[test_case(1, Options { timestamps: Some(STAMPS), ..Options::default() } => 1; "no more than there are")]
fn blocks_that_fit(count: u32, beside: Options) -> usize {
    let options = Options { sack: blocks(count), ..beside };
    let back = read(&written(&options)).unwrap();
    assert_eq!(back, Options { sack: options.sack.truncated(back.sack.as_slice().len()), ..options });
    back.sack.as_slice().len()
}

#[test_case(FastOpenKind::Assigned, &[] => vec![34, 2, 1, 1])]
#[test_case(FastOpenKind::Assigned, &[1, 2, 3, 4] => vec![34, 6, 1, 2, 3, 4, 1, 1])]
#[test_case(FastOpenKind::Assigned, &[1, 2, 3, 4, 5, 6] => vec![34, 8, 1, 2, 3, 4, 5, 6])]
#[test_case(FastOpenKind::Experimental, &[] => vec![254, 4, 0xf9, 0x89])]
#[test_case(FastOpenKind::Experimental, &[1, 2, 3, 4] => vec![254, 8, 0xf9, 0x89, 1, 2, 3, 4])]
fn a_fast_open_option_stands_behind_the_shift(kind: FastOpenKind, cookie: &[u8]) -> Vec<u8> {
    let options = Options { window_scale: Some(7), fast_open: asked(kind, cookie), ..Options::default() };
    let field = written(&options);
    assert_eq!(read(&field), Ok(options));
    assert_eq!(field[..4], [1, 3, 3, 7]);
    field[4..].to_vec()
}

#[test]
fn the_longest_cookie_fits_beside_everything_a_syn_carries() {
    for kind in [FastOpenKind::Assigned, FastOpenKind::Experimental] {
        let fast_open = asked(kind, &[7; 16]);
        let syn = Options {
            mss: Some(1),
            timestamps: Some(STAMPS),
            sack_permitted: true,
            window_scale: Some(1),
            fast_open,
            ..Options::default()
        };
        assert_eq!(read(&written(&syn)), Ok(syn));
        assert_eq!(read(&written(&Options { sack: blocks(1), ..syn })), Ok(syn));
    }
}

#[test]
fn a_fifth_block_finds_no_place() {
    let mut four = blocks(4);
    assert!(!four.push(SeqRange::default()));
    assert_eq!(four, blocks(4));
}

#[test]
fn truncated_blocks_equal_those_that_never_had_more() {
    for n in 0..=4 {
        assert_eq!(blocks(4).truncated(n), blocks(n as u32));
    }
    assert_eq!(blocks(2).truncated(9), blocks(2));
}

/// One option of a field, as any sender may arrange them.
#[derive(Clone, Debug)]
enum Element {
    Nop,
    Mss(u16),
    Shift(u8),
    Permitted,
    Stamps(u32, u32),
    Sack(Vec<(u32, u32)>),
    FastOpen(bool, Vec<u8>),
    Unknown(u8, Vec<u8>),
}

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        Just(Element::Nop),
        any::<u16>().prop_map(Element::Mss),
        any::<u8>().prop_map(Element::Shift),
        Just(Element::Permitted),
        any::<(u32, u32)>().prop_map(|(tsval, tsecr)| Element::Stamps(tsval, tsecr)),
        prop::collection::vec(any::<(u32, u32)>(), 1..=4).prop_map(Element::Sack),
        (any::<bool>(), prop::collection::vec(any::<u8>(), 0..=18)).prop_map(|(e, body)| Element::FastOpen(e, body)),
        (9u8.., prop::collection::vec(any::<u8>(), 0..8))
            .prop_filter("a kind that is known", |(kind, _)| ![34, 254].contains(kind))
            .prop_map(|(kind, body)| Element::Unknown(kind, body)),
    ]
}

impl Element {
    /// Returns the bytes, and applies the option to the meaning. Every option except NOP has a length (RFC 9293 MUST-68).
    fn encode(&self, meaning: &mut Options) -> Vec<u8> {
        let (kind, body) = match self {
            Self::Nop => return vec![1],
            Self::Mss(mss) => {
                meaning.mss = Some(*mss);
                (2, mss.to_be_bytes().to_vec())
            }
            Self::Shift(shift) => {
                meaning.window_scale = Some(*shift);
                (3, vec![*shift])
            }
            Self::Permitted => {
                meaning.sack_permitted = true;
                (4, vec![])
            }
            Self::Sack(edges) => {
                meaning.sack = SackBlocks::NONE;
                for &(start, end) in edges {
                    meaning.sack.push(SeqRange::new(SeqNum(start), SeqNum(end)));
                }
                (5, edges.iter().flat_map(|(start, end)| [start.to_be_bytes(), end.to_be_bytes()]).flatten().collect())
            }
            Self::Stamps(tsval, tsecr) => {
                meaning.timestamps = Some(Timestamps { tsval: *tsval, tsecr: *tsecr });
                (8, [tsval.to_be_bytes(), tsecr.to_be_bytes()].concat())
            }
            Self::FastOpen(experimental, cookie) => {
                let kind = if *experimental { FastOpenKind::Experimental } else { FastOpenKind::Assigned };
                if matches!(cookie.len(), 0 | 4 | 6 | 8 | 10 | 12 | 14 | 16) {
                    meaning.fast_open = asked(kind, cookie);
                }
                match kind {
                    FastOpenKind::Assigned => (34, cookie.clone()),
                    FastOpenKind::Experimental => (254, [&[0xf9, 0x89], &cookie[..]].concat()),
                }
            }
            Self::Unknown(kind, body) => (*kind, body.clone()),
        };
        [vec![kind, 2 + body.len() as u8], body].concat()
    }
}

proptest! {
    // RFC 9293 MUST-64, MUST-68 and MUST-69: whatever the arrangement, zero-padded to a whole word.
    #[test]
    fn any_arrangement_of_options_is_read(elements in prop::collection::vec(element(), 0..8)) {
        let (mut meaning, mut field) = (Options::default(), Vec::new());
        for element in elements {
            let mut with_it = meaning;
            let bytes = element.encode(&mut with_it);
            if field.len() + bytes.len() <= MAX_OPTIONS {
                meaning = with_it;
                field.extend(bytes);
            }
        }
        field.resize(field.len().next_multiple_of(4), 0);
        prop_assert_eq!(read(&field), Ok(meaning));
    }

    #[test]
    fn any_field_is_read_or_refused(field in prop::collection::vec(any::<u8>(), 0..=MAX_OPTIONS)) {
        prop_assert!(matches!(read(&field), Ok(_) | Err(Malformed::OptionLength)));
    }
}
