//! Rows into the room that GitHub leaves: what is cut is counted, and no row is lost before the
//! findings of all rows are.

use super::row::{line, points, short_line};
use crate::limits::MESSAGE_CHARS;
use crate::rules::Row;

/// Room kept behind the rows of a text for the words that count what was left out.
const NOTE: usize = 80;

/// Length as GitHub counts at most: UTF-16 units, never fewer than characters.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// One block of Markdown a row, in the order given, in at most `room` units with a blank line
/// between two of them.
///
/// First every row gets its line without the rule's words, then as many as fit get their whole line,
/// then findings are added in order; so the rows that matter most have to stand first.
pub(super) fn fit(rows: &[&Row], signer: Option<&str>, room: usize) -> Vec<String> {
    let mut left = room;
    let mut take = |text: &str, instead_of: &str| {
        let more = units(text).saturating_sub(units(instead_of));
        let fits = more <= left;
        if fits {
            left -= more;
        }
        fits
    };
    let mut blocks: Vec<String> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let short = short_line(row);
        let remaining = rows.len() - index;
        // Two line breaks before it, and room for the last words where others do not fit.
        if !take(&format!("\n\n{short}\n\n{:NOTE$}", ""), "") {
            blocks.push(format!("… {remaining} more rows left out for length"));
            break;
        }
        blocks.push(short);
    }
    let kept = blocks.len().min(rows.len());
    for (block, row) in blocks.iter_mut().zip(rows).take(kept) {
        let whole = line(row, signer);
        // A text past the bound is no text of a rule that keeps to it.
        if block.starts_with('…') || units(&whole) > 2 * MESSAGE_CHARS {
            continue;
        }
        if take(&whole, block) {
            *block = whole;
        }
    }
    for (block, row) in blocks.iter_mut().zip(rows).take(kept) {
        if block.starts_with('…') {
            continue;
        }
        let points = points(row);
        let mut separator = "\n\n";
        for (index, point) in points.iter().enumerate() {
            if !take(&format!("{separator}{point}"), "") {
                // Its room was kept with the row's line.
                block.push_str(&format!(
                    "{separator}- … {} more left out for length",
                    points.len() - index
                ));
                break;
            }
            block.push_str(separator);
            block.push_str(point);
            separator = "\n";
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{fit, units};
    use crate::rules::{Finding, Level, Row, RowStatus};
    use crate::verdict::samples::{finding, row};

    fn rows(count: i64, findings: usize, message: &str) -> Vec<Row> {
        (0..count)
            .map(|n| Row {
                findings: vec![
                    Finding { fix: Some("do".into()), ..finding(Level::Fail, message) };
                    findings
                ],
                ..row(n, RowStatus::Fail)
            })
            .collect()
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let rows = rows(1, 5, &"x".repeat(100));
        let blocks = fit(&rows.iter().collect::<Vec<_>>(), None, 450);
        let shown = blocks[0].matches("**Fix:**").count();
        assert_eq!(shown, 2);
        assert!(blocks[0].ends_with("\n- … 3 more left out for length"), "{}", blocks[0]);
    }

    #[test]
    fn a_text_past_its_bound_is_not_cut_in_the_middle_of_a_code_span() {
        let long =
            Row { summary: format!("`{}`", "@team ".repeat(5_000)), ..row(1, RowStatus::Fail) };
        assert_eq!(
            fit(&[&long], None, 60_000),
            ["❌ Check 1 (Title 1): FAIL — too long to be shown here"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_room_is_never_exceeded(
            count in 0..40_i64,
            findings in 0..12_usize,
            length in 0..3_000_usize,
            room in 0..70_000_usize,
        ) {
            let rows = rows(count, findings, &"😀".repeat(length));
            let blocks = fit(&rows.iter().collect::<Vec<_>>(), Some("bob"), room);
            prop_assert!(units(&blocks.join("\n\n")) <= room.max(super::NOTE));
            if room >= 40 * 200 {
                for n in 0..count {
                    let name = format!("Check {n} (");
                    prop_assert_eq!(blocks.iter().filter(|b| b.contains(&name)).count(), 1);
                }
            }
        }
    }
}
