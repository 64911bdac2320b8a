//! SVG to PNG with the embedded font, and no other.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// The two cuts of Inter 4.1, subset to Latin and a few symbols; its licence stands beside them.
const FONTS: [&[u8]; 2] =
    [include_bytes!("../font/Inter-Regular.ttf"), include_bytes!("../font/Inter-SemiBold.ttf")];

/// The most pixels on a side.
const LARGEST: f32 = 20_000.0;

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    Options { font_family: "Inter".to_owned(), fontdb: Arc::new(fonts), ..Options::default() }
});

/// Draws an SVG of this module as PNG, `scale` pixels for each of its own. The same text gives the
/// same bytes on one machine.
///
/// # Errors
///
/// If `svg` is not SVG, or the picture would have no pixels or more than 20,000 on a side.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let tree = parse(svg)?;
    let size = tree.size();
    let (width, height) = (size.width() * scale, size.height() * scale);
    if !(width >= 1.0 && height >= 1.0 && width <= LARGEST && height <= LARGEST) {
        return Err(format!("a picture of {width} by {height} pixels cannot be drawn"));
    }
    let mut picture = Pixmap::new(pixels(width), pixels(height))
        .ok_or_else(|| format!("no memory for {width} by {height} pixels"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| format!("the picture cannot be written as PNG: {error}"))
}

/// Reads an SVG with the embedded fonts.
pub(super) fn parse(svg: &str) -> Result<Tree, String> {
    Tree::from_str(svg, &OPTIONS).map_err(|error| format!("not an SVG: {error}"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to lie between 1 and 20,000"
)]
fn pixels(length: f32) -> u32 {
    length.round() as u32
}
