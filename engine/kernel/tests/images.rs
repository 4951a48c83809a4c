//! Images as real tools write them.

use joulemark_kernel::Image;

const DATA: &str = ":0240000031404D\n:02FFFE000040C1\n";
/// End of a file by mspgcc's objcopy: the entry point in a record of type end-of-file, then the
/// end.
const ENTRY_AND_END: &str = ":00400001BF\n:00000001FF\n";

fn parse(text: &str) -> Result<Image, String> {
    Image::parse(text.as_bytes(), None, &[]).map_err(|error| error.to_string())
}

#[test]
fn a_second_end_of_file_record_ends_the_file_too() {
    let image = parse(&format!("{DATA}{ENTRY_AND_END}")).expect("is read");
    let once = parse(&format!("{DATA}:00000001FF\n")).expect("is read");
    assert_eq!(image.digest(), once.digest());
    assert_eq!(image.segments[0].data, [0x31, 0x40]);
}

#[test]
fn anything_else_after_the_end_is_refused_with_its_line() {
    for after in [":0240000031404D", ":020000040000FA", "no record"] {
        let error = parse(&format!("{DATA}{ENTRY_AND_END}{after}\n")).expect_err("is refused");
        assert!(error.contains("line 5"), "{after}: {error}");
        assert!(error.contains("the file is damaged"), "{after}: {error}");
    }
    let error = parse(DATA).expect_err("is refused");
    assert!(error.contains("truncated"), "{error}");
}
