//! How wide text is in the embedded font, so that labels are placed without a font engine.
//!
//! Owns the advance widths of the two Inter cuts in `src/report/font` (a test compares them with
//! what the rasteriser lays out) and the shortening of texts. Kerning is left out: it changes a
//! line by under 2 %.

/// The two cuts that the charts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Inter, regular, 400.
    Regular,
    /// Inter, semi-bold, 600.
    SemiBold,
}

/// Font units in one em.
const EM: u32 = 2_048;

/// Advances of U+0020 to U+007E and U+00A0 to U+017F in font units (0: no glyph), then of
/// [`SYMBOLS`]: the cuts' `hmtx` tables.
#[rustfmt::skip]
const REGULAR: [u16; 352] = [
    576, 589, 954, 1297, 1314, 2011, 1319, 614, 747, 747, 1026, 1355, 590, 942, 590, 738, 1328,
    1328, 1328, 1328, 1328, 1328, 1328, 1328, 1328, 1328, 590, 618, 1355, 1355, 1355, 1047, 1978,
    1413, 1340, 1496, 1478, 1231, 1209, 1528, 1522, 550, 1169, 1376, 1158, 1850, 1543, 1566, 1308,
    1566, 1318, 1314, 1322, 1524, 1413, 2018, 1397, 1390, 1288, 747, 738, 747, 965, 934, 661, 1150,
    1254, 1170, 1254, 1194, 758, 1256, 1211, 496, 496, 1124, 496, 1794, 1210, 1228, 1254, 1254, 771,
    1081, 670, 1211, 1151, 1676, 1118, 1151, 1131, 873, 681, 873, 1355, 576, 589, 1170, 1251, 1484,
    1126, 553, 1164, 1210, 1872, 929, 1193, 1355, 0, 1364, 978, 933, 1355, 905, 913, 661, 1200,
    1234, 590, 549, 623, 988, 1193, 1643, 1735, 1806, 1047, 1413, 1413, 1413, 1413, 1413, 1413,
    2035, 1496, 1231, 1231, 1231, 1231, 550, 550, 550, 550, 1505, 1543, 1566, 1566, 1566, 1566,
    1566, 1355, 1566, 1524, 1524, 1524, 1524, 1390, 1302, 1262, 1150, 1150, 1150, 1150, 1150, 1150,
    1879, 1170, 1194, 1194, 1194, 1194, 496, 496, 496, 496, 1193, 1210, 1228, 1228, 1228, 1228,
    1228, 1355, 1228, 1211, 1211, 1211, 1211, 1151, 1254, 1151, 1413, 1150, 1413, 1150, 1413, 1150,
    1496, 1170, 1496, 1170, 1496, 1170, 1496, 1170, 1478, 1454, 1505, 1254, 1231, 1194, 1231, 1194,
    1231, 1194, 1231, 1194, 1231, 1194, 1528, 1256, 1528, 1256, 1528, 1256, 1528, 1256, 1522, 1211,
    1590, 1211, 550, 496, 550, 496, 550, 496, 550, 496, 550, 496, 1719, 992, 1169, 496, 1376, 1124,
    1076, 1158, 496, 1158, 496, 1158, 696, 1152, 736, 1218, 496, 1543, 1210, 1543, 1210, 1543, 1210,
    0, 1543, 1210, 1566, 1228, 1566, 1228, 1566, 1228, 2058, 2047, 1318, 771, 1318, 771, 1318, 771,
    1314, 1081, 1314, 1081, 1314, 1081, 1314, 1081, 1322, 670, 1322, 770, 1322, 670, 1524, 1211,
    1524, 1211, 1524, 1211, 1524, 1211, 1524, 1211, 1524, 1211, 2018, 1676, 1390, 1151, 1390, 1288,
    1131, 1288, 1131, 1288, 1131, 644, 372, 734, 734, 1328, 1024, 2048, 534, 534, 902, 902, 1152,
    1770, 372, 456, 906, 1365, 1954, 1708, 1954, 1708, 1588, 1588, 1588, 1588, 1355, 1355, 1355,
    1355, 1355, 2152, 1872, 1872, 1811,
];

/// The same of the bolder cut.
#[rustfmt::skip]
const SEMI_BOLD: [u16; 352] = [
    516, 658, 1071, 1318, 1332, 2057, 1357, 667, 764, 764, 1105, 1378, 653, 953, 653, 776, 1325,
    1325, 1325, 1325, 1325, 1325, 1325, 1325, 1325, 1325, 653, 674, 1378, 1378, 1378, 1113, 2046,
    1490, 1350, 1509, 1479, 1240, 1204, 1534, 1527, 567, 1187, 1440, 1158, 1889, 1555, 1574, 1321,
    1583, 1336, 1332, 1352, 1507, 1490, 2089, 1474, 1461, 1336, 764, 776, 764, 986, 961, 719, 1176,
    1278, 1193, 1278, 1211, 796, 1281, 1254, 536, 536, 1166, 536, 1844, 1253, 1247, 1278, 1278, 813,
    1125, 723, 1254, 1202, 1719, 1165, 1205, 1159, 931, 735, 931, 1378, 516, 658, 1193, 1289, 1534,
    1154, 647, 1164, 1253, 1872, 943, 1299, 1378, 0, 1359, 925, 938, 1378, 929, 949, 719, 1258,
    1229, 653, 680, 663, 998, 1299, 1702, 1781, 1858, 1113, 1490, 1490, 1490, 1490, 1490, 1490,
    2075, 1509, 1240, 1240, 1240, 1240, 567, 567, 567, 567, 1539, 1555, 1574, 1574, 1574, 1574,
    1574, 1378, 1574, 1507, 1507, 1507, 1507, 1461, 1347, 1318, 1176, 1176, 1176, 1176, 1176, 1176,
    1869, 1193, 1211, 1211, 1211, 1211, 536, 536, 536, 536, 1216, 1253, 1247, 1247, 1247, 1247,
    1247, 1378, 1247, 1254, 1254, 1254, 1254, 1205, 1278, 1205, 1490, 1176, 1490, 1176, 1490, 1176,
    1509, 1193, 1509, 1193, 1509, 1193, 1509, 1193, 1479, 1514, 1539, 1278, 1240, 1211, 1240, 1211,
    1240, 1211, 1240, 1211, 1240, 1211, 1534, 1281, 1534, 1281, 1534, 1281, 1534, 1281, 1527, 1254,
    1632, 1254, 567, 536, 567, 536, 567, 536, 567, 536, 567, 536, 1754, 1071, 1187, 536, 1440, 1166,
    1160, 1158, 536, 1158, 536, 1158, 772, 1173, 858, 1232, 536, 1555, 1253, 1555, 1253, 1555, 1253,
    0, 1555, 1253, 1574, 1247, 1574, 1247, 1574, 1247, 2076, 2031, 1336, 813, 1336, 813, 1336, 813,
    1332, 1125, 1332, 1125, 1332, 1125, 1332, 1125, 1352, 723, 1352, 859, 1352, 723, 1507, 1254,
    1507, 1254, 1507, 1254, 1507, 1254, 1507, 1254, 1507, 1254, 2089, 1719, 1461, 1205, 1461, 1336,
    1159, 1336, 1159, 1336, 1159, 685, 339, 864, 864, 1325, 1024, 2048, 602, 602, 1038, 1027, 1031,
    1958, 339, 527, 1049, 1390, 1954, 1805, 1954, 1805, 1598, 1598, 1598, 1598, 1378, 1378, 1378,
    1378, 1378, 2165, 1872, 1872, 1808,
];

/// The glyphs beyond Latin that the font holds, in the order of the tables.
const SYMBOLS: &str = "\u{2009}‐\u{2011}‒–—‘’“”•…\u{202f}′″€←↑→↓↖↗↘↙−≈≠≤≥◆○●✓";

/// Width of `text` at `size` pixels, in pixels. A character without a glyph counts one em.
pub(super) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let units: u32 = text.chars().map(|c| advance(c, weight)).sum();
    f64::from(units) / f64::from(EM) * size
}

fn advance(c: char, weight: Weight) -> u32 {
    let table = match weight {
        Weight::Regular => &REGULAR,
        Weight::SemiBold => &SEMI_BOLD,
    };
    let index = match c {
        ' '..='~' => Some(c as usize - 0x20),
        '\u{a0}'..='\u{17f}' => Some(c as usize - 0xa0 + 95),
        _ => SYMBOLS.chars().position(|symbol| symbol == c).map(|at| at + 95 + 224),
    };
    match index.map(|at| u32::from(table[at])) {
        Some(units) if units > 0 => units,
        _ => EM,
    }
}

/// `text`, or as much of it as `room` pixels hold, with an ellipsis: names lose their middle (both
/// ends tell them apart), sentences their end.
pub(super) fn shorten(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let sentence = text.contains(' ');
    for kept in (1..chars.len()).rev() {
        let tail = if sentence { 0 } else { kept * 2 / 5 };
        let head: String = chars[..kept - tail].iter().collect();
        let end: String = chars[chars.len() - tail..].iter().collect();
        let short = format!("{}…{end}", head.trim_end());
        if width(&short, size, weight) <= room {
            return short;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_loses_its_middle_and_a_sentence_its_end() {
        let name = "prod-westeurope-payments-0042";
        let short = shorten(name, 12.0, Weight::Regular, 120.0);
        assert!(short.starts_with("prod-") && short.ends_with("0042"), "{short}");
        assert!(width(&short, 12.0, Weight::Regular) <= 120.0);
        let short = shorten("Rollout of the node image", 12.0, Weight::Regular, 100.0);
        assert!(short.starts_with("Rollout of") && short.ends_with('…'), "{short}");
        assert_eq!(shorten("fits", 12.0, Weight::Regular, 100.0), "fits");
        assert_eq!(shorten("nothing fits here", 12.0, Weight::Regular, 0.0), "…");
    }

    #[test]
    fn digits_are_tabular_and_unknown_characters_are_wide() {
        let digits: Vec<u32> = ('0'..='9').map(|c| advance(c, Weight::Regular)).collect();
        assert!(digits.iter().all(|&units| units == digits[0]));
        assert_eq!(advance('漢', Weight::Regular), EM);
    }
}
