//! Code blocks: values, precedence, failures.

use super::Program;
use test_case::test_case;

fn run(text: &str) -> Result<Vec<String>, (String, u32)> {
    let mut program = Program::default();
    program.set("tcpi_snd_cwnd", 10);
    program.set("tcpi_rtt", 100_400);
    program.set("tcpi_options", 0b10_0101);
    program.set("TCPI_OPT_SYN_DATA", 32);
    program.run(text).map(|()| program.printed)
}

#[test_case("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd"; "equality")]
#[test_case("assert tcpi_snd_cwnd == 10 and tcpi_rtt > 100000 or 0"; "connectives")]
#[test_case("assert not tcpi_snd_cwnd == 11"; "not binds looser than comparisons")]
#[test_case("assert 100000 <= tcpi_rtt <= 101000"; "a chain")]
#[test_case("assert (tcpi_options & TCPI_OPT_SYN_DATA) != 0, tcpi_options"; "bits")]
#[test_case("assert 1 | 2 == 3 & 3"; "bits bind tighter than comparisons")]
#[test_case("assert 2 + 3 * 4 ** 2 // 5 % 7 == 4"; "arithmetic")]
#[test_case("assert -7 // 2 == -4 and -7 % 2 == 1 and 7 // -2 == -4 and 7 % -2 == -1"; "division rounds down")]
#[test_case("assert 7 / 2 == 3.5"; "a quotient has a fraction")]
#[test_case("assert abs(tcpi_rtt - 100000) < 500 and max(1, 3, 2) == 3 and min([4, 2]) == 2"; "functions")]
#[test_case("assert tcpi_snd_cwnd in (9, 10) and tcpi_snd_cwnd not in [1]"; "membership")]
#[test_case("x = 4; x += 1\nassert x == 5"; "assignments")]
#[test_case("assert (1 ==\n  1)\nassert 2 == \\\n 2 # why"; "long lines and comments")]
#[test_case("assert (5 if tcpi_snd_cwnd > 3 else 6) == 5"; "a choice")]
#[test_case("assert 0x10 == 16 and 1.5e3 == 1500"; "numbers")]
#[test_case("pass\n\n"; "nothing")]
fn holds(text: &str) {
    assert_eq!(run(text), Ok(Vec::new()), "{text}");
}

#[test_case(
    "assert tcpi_snd_cwnd == 9, 'cwnd %d' % tcpi_snd_cwnd",
    0,
    "assertion failed: cwnd 10 (tcpi_snd_cwnd = 10)"
)]
#[test_case("\n\nassert 0", 2, "assertion failed ()"; "the line is named")]
#[test_case("assert tcpi_no_such == 1", 0, "`tcpi_no_such` has no value")]
#[test_case("for x in y: pass", 0, "expected assert, print, an assignment or an expression, found `for`")]
#[test_case("assert sqrt(4) == 2", 0, "sqrt() with 1 arguments is not understood")]
#[test_case("assert 1 / 0", 0, "a division by zero")]
#[test_case("assert (1", 0, "expected `)`, found the end of the line")]
#[test_case("assert 1 $ 2", 0, "`$` is not understood")]
fn fails(text: &str, line: u32, what: &str) {
    assert_eq!(run(text), Err((what.to_owned(), line)));
}

#[test]
fn print_is_a_statement_and_a_function() {
    let printed = run("print tcpi_snd_cwnd, 'x'\nprint(1, 2)\nprint").unwrap();
    assert_eq!(printed, ["10 x", "(1, 2)", ""]);
}

proptest::proptest! {
    #[test]
    fn any_text_is_run_or_refused(text in "\\PC{0,60}|[a-z0-9 =<>()+*/%.,'\\n-]{0,60}") {
        let _ = run(&text);
    }
}
