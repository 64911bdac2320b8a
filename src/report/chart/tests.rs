//! What must hold for every chart, on the samples and on their edges.

use std::fmt::Write as _;

use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Group, Node};

use super::samples::{delays, gate, outcomes, progress, timeline, tradeoff};
use super::*;
use crate::time::Span;

/// Every chart worth looking at, with its name.
fn gallery() -> Vec<(String, String)> {
    let mut charts = Vec::new();
    for strategies in [1, 2, 4, 8] {
        charts.push((format!("progress-{strategies}"), progress_svg(&progress(strategies, 1.0))));
        charts.push((format!("delays-{strategies}"), bars_svg(&delays(strategies))));
        charts.push((format!("outcomes-{strategies}"), bars_svg(&outcomes(strategies))));
        charts.push((format!("tradeoff-{strategies}"), scatter_svg(&tradeoff(strategies))));
    }
    charts.push(("progress-minutes".into(), progress_svg(&progress(3, 0.001))));
    charts.push(("progress-years".into(), progress_svg(&progress(3, 12.0))));
    charts.push(("progress-horizon".into(), progress_svg(&cut_off())));
    charts.push(("progress-of-time".into(), progress_svg(&of_time())));
    for members in [1, 10, 30, 100, 300, 1_000, 20_000] {
        charts.push((format!("timeline-{members}"), timeline_svg(&timeline(members))));
    }
    charts.extend(edges());
    charts
}

fn cut_off() -> ProgressChart {
    let mut chart = progress(2, 1.0);
    chart.until = Some(Span::from_days(20));
    chart.horizon = Some(Span::from_days(18));
    chart
}

/// The vertical axis shows time.
fn of_time() -> ProgressChart {
    let mut chart = progress(3, 1.0);
    chart.top = Some(Span::from_days(50));
    chart.axis = "behind".to_owned();
    chart
}

#[test]
fn a_vertical_axis_of_time_has_ticks_of_time() {
    let labels = |chart: &ProgressChart| {
        let drawn = progress_svg(chart);
        ["25 %", "100 %", ">14d<", ">42d<"].map(|label| drawn.matches(label).count())
    };
    let mut chart = of_time();
    let mut minutes = chart.clone();
    // No series: all that is left are the axes.
    chart.series.clear();
    (minutes.series, minutes.top) = (vec![], None);
    let (time, shares) = (labels(&chart), labels(&minutes));
    assert_eq!((time[0], time[1], shares[0], shares[1]), (0, 0, 1, 1));
    assert!(time[3] > shares[3], "{time:?} {shares:?}");
}

/// What charts are rarely asked to draw.
fn edges() -> Vec<(String, String)> {
    let long = "a-very-long-name-that-somebody-gave-to-a-strategy-without-thinking-of-charts";
    let mut all_failed = timeline(60);
    all_failed.state = State::Failed;
    all_failed.end = Span::from_days(3);
    for stage in &mut all_failed.stages {
        stage.name = long.to_owned();
        stage.wait = None;
        stage.state = State::Failed;
        for member in stage.groups.iter_mut().flat_map(|group| &mut group.members) {
            let bar = TimelineBar { from: Span::ZERO, to: Span::HOUR, kind: BarKind::Failed };
            (member.bars, member.state) = (vec![bar], State::Failed);
            member.name = format!("{long}<&>\"{}", member.name);
        }
    }
    let mut empty = timeline(1);
    (empty.stages, empty.end) = (Vec::new(), Span::ZERO);
    let mut instant = timeline(3);
    instant.end = Span::ZERO;
    let mut hurried = timeline(10);
    for stage in &mut hurried.stages {
        stage.gates.push(gate(long, Span::ZERO, Span::HOUR, GateKind::ScheduledStart));
    }
    hurried.title = long.repeat(3);
    hurried.subtitle = long.repeat(4);
    let mut many = timeline(500);
    many.stages = (0..40).flat_map(|_| many.stages.clone()).take(50).collect();
    let mut named = progress(6, 1.0);
    for series in &mut named.series {
        long.clone_into(&mut series.name);
        series.outcome = long.repeat(2);
    }
    let mut flat = progress(2, 1.0);
    for series in &mut flat.series {
        series.points.truncate(1);
    }
    let mut none = progress(0, 1.0);
    none.note.clear();
    let mut same = tradeoff(8);
    for point in &mut same.points {
        let nothing = Estimate { value: 0.0, low: 0.0, high: 0.0 };
        (point.x, point.y) = (nothing, nothing);
    }
    vec![
        ("edge-all-failed".into(), timeline_svg(&all_failed)),
        ("edge-stuck".into(), timeline_svg(&stuck())),
        ("edge-empty".into(), timeline_svg(&empty)),
        ("edge-instant".into(), timeline_svg(&instant)),
        ("edge-hurried".into(), timeline_svg(&hurried)),
        ("edge-many-stages".into(), timeline_svg(&many)),
        ("edge-long-names".into(), progress_svg(&named)),
        ("edge-flat".into(), progress_svg(&flat)),
        ("edge-no-series".into(), progress_svg(&none)),
        ("edge-same-point".into(), scatter_svg(&same)),
        ("edge-no-points".into(), scatter_svg(&tradeoff(0))),
        ("edge-no-rows".into(), bars_svg(&delays(0))),
    ]
}

/// A run whose last stage waits for an approval that nobody gives.
fn stuck() -> Timeline {
    let mut stuck = timeline(12);
    stuck.state = State::Running;
    let last = stuck.stages.len() - 1;
    stuck.stages[last].gates[0].completed = None;
    (stuck.stages[last].begin, stuck.stages[last].end) = (None, None);
    stuck.stages[last].state = State::Pending;
    for group in &mut stuck.stages[last].groups {
        (group.begin, group.end, group.state) = (None, None, State::NotStarted);
        group.gates.clear();
        for member in &mut group.members {
            member.bars.clear();
            member.pending.clear();
            member.state = State::NotStarted;
        }
    }
    stuck
}

/// A text as laid out: left, top, right, bottom, and what it says.
type Laid = ([f32; 4], String);

fn texts(group: &Group, out: &mut Vec<Laid>) {
    for node in group.children() {
        match node {
            Node::Group(group) => texts(group, out),
            Node::Text(text) => {
                let area = text.abs_bounding_box();
                let words = text.chunks().iter().map(resvg::usvg::TextChunk::text).collect();
                out.push(([area.left(), area.top(), area.right(), area.bottom()], words));
            }
            _ => {}
        }
    }
}

#[test]
fn every_text_lies_on_its_chart_and_none_on_another() {
    let mut wrong = String::new();
    for (name, svg) in gallery() {
        let tree = raster::parse(&svg).unwrap();
        let (width, height) = (tree.size().width(), tree.size().height());
        let mut laid = Vec::new();
        texts(tree.root(), &mut laid);
        for (index, (area, words)) in laid.iter().enumerate() {
            let [left, top, right, bottom] = *area;
            if left < 8.0 || top < 4.0 || right > width - 8.0 || bottom > height - 2.0 {
                let _ = writeln!(wrong, "{name}: `{words}` leaves the chart: {area:?}");
            }
            for (other, others) in &laid[..index] {
                // Boxes hold room for accents above and strokes below; letters take about half.
                let inner = (bottom - top).min(other[3] - other[1]) * 0.3;
                if left + 1.0 < other[2]
                    && other[0] + 1.0 < right
                    && top + inner < other[3]
                    && other[1] + inner < bottom
                {
                    let _ = writeln!(wrong, "{name}: `{words}` lies on `{others}`");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_same_data_are_the_same_bytes() {
    for ((name, first), (_, second)) in gallery().into_iter().zip(gallery()) {
        assert_eq!(first, second, "{name}");
    }
    let svg = timeline_svg(&timeline(10));
    assert_eq!(png(&svg, 1.0).unwrap(), png(&svg, 1.0).unwrap());
}

#[test]
fn svg_numbers_have_two_decimals_at_most_and_ids_do_not_occur() {
    for (name, svg) in gallery() {
        assert!(!svg.contains(" id=") && !svg.contains("NaN") && !svg.contains("inf,"), "{name}");
        for number in svg.split(['"', ' ', ',', 'M', 'L', 'h', 'v', 'z', '-']) {
            if number.parse::<f64>().is_ok() {
                let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                assert!(decimals <= 2, "{name}: {number}");
            }
        }
    }
}

#[test]
fn pages_stay_within_a_page_and_files_stay_small() {
    for (name, svg) in gallery() {
        let size = raster::parse(&svg).unwrap().size();
        assert!((size.width() - 1_200.0).abs() < 0.1, "{name}");
        assert!(size.height() <= 1_640.0, "{name}: {}", size.height());
        assert!(svg.len() < 1_200_000, "{name}: {} bytes", svg.len());
    }
}

#[test]
fn the_embedded_font_is_as_wide_as_the_tables_say() {
    for (weight, attribute) in [(text::Weight::Regular, "400"), (text::Weight::SemiBold, "600")] {
        for words in ["0123456789", "nnnnnnnn", "mmmm→…≥mmm", "éßñøåéßñø", "Hamburgefonstiv"]
        {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"99\">\
                 <text x=\"20\" y=\"60\" font-size=\"40\" font-weight=\"{attribute}\" \
                 font-family=\"Inter\">{words}</text></svg>"
            );
            let mut laid = Vec::new();
            texts(raster::parse(&svg).unwrap().root(), &mut laid);
            let [left, _, right, _] = laid[0].0;
            let told = text::width(words, 40.0, weight);
            let off = (f64::from(right - left) - told).abs();
            assert!(off < told * 0.02, "{words}: {} laid out, {told} told", right - left);
        }
    }
}

/// How many colours a picture has.
fn colours(png: &[u8]) -> usize {
    let picture = Pixmap::decode_png(png).unwrap();
    let mut colours: Vec<u32> = picture
        .pixels()
        .iter()
        .map(|pixel| u32::from_be_bytes([0, pixel.red(), pixel.green(), pixel.blue()]))
        .collect();
    colours.sort_unstable();
    colours.dedup();
    colours.len()
}

#[test]
fn pictures_show_something_and_scale() {
    let svg = timeline_svg(&timeline(1_000));
    let picture = png(&svg, 1.0).unwrap();
    assert!(colours(&picture) > 100);
    let double = Pixmap::decode_png(&png(&svg, 2.0).unwrap()).unwrap();
    assert_eq!(double.width(), 2_400);
    assert!(colours(&png(&progress_svg(&progress(4, 1.0)), 1.0).unwrap()) > 100);
}

#[test]
fn what_is_no_picture_is_refused() {
    assert!(png("<svg", 1.0).unwrap_err().starts_with("not an SVG"));
    let svg = timeline_svg(&timeline(1));
    for scale in [0.0, -1.0, f32::NAN, 1e6] {
        assert!(png(&svg, scale).is_err(), "{scale}");
    }
}

#[test]
fn ten_members_are_named_and_a_thousand_are_counted() {
    let svg = timeline_svg(&timeline(10));
    assert!(svg.contains(">prod-westeurope-0001</text>") && !svg.contains("One line"));
    let svg = timeline_svg(&timeline(1_000));
    assert!(!svg.contains("prod-westeurope-0001") && svg.contains("prod-westeurope · 425"));
    assert!(svg.contains("One line for each member"));
    assert!(timeline_svg(&timeline(20_000)).contains("One line for every"));
}

#[test]
fn failures_stay_visible_among_a_thousand() {
    let mut chart = timeline(1_000);
    chart.end = Span::from_days(200);
    for member in chart.stages.iter_mut().flat_map(|s| &mut s.groups).flat_map(|g| &mut g.members) {
        member.bars[0].kind = BarKind::Updated;
    }
    let count = |chart: &Timeline| {
        let picture = Pixmap::decode_png(&png(&timeline_svg(chart), 1.0).unwrap()).unwrap();
        picture.pixels().iter().filter(|pixel| pixel.red() > 150 && pixel.green() < 90).count()
    };
    let before = count(&chart);
    let bar = &mut chart.stages[2].groups[0].members[77].bars[0];
    (bar.kind, bar.to) = (BarKind::Failed, bar.from + Span::SECOND);
    assert!(count(&chart) >= before + 4);
}

#[test]
fn many_strategies_get_panels_of_their_own() {
    let panels = |strategies| progress_svg(&progress(strategies, 1.0)).matches("<svg x=").count();
    assert_eq!([1, 4, 5, 8].map(panels), [1, 1, 6, 9]);
}

#[test]
fn slow_replications_are_cut_off_with_a_remark() {
    let mut chart = progress(1, 1.0);
    let last = chart.series[0].points.len() - 1;
    for point in &mut chart.series[0].points[last..] {
        point.at = Span::from_days(400);
        point.p5 = 1.0;
    }
    assert!(progress_svg(&chart).contains("slow replications go on to 400d"));
    chart.until = Some(Span::from_days(30));
    assert!(!progress_svg(&chart).contains("slow replications"));
}

#[test]
#[ignore = "draws the pictures for people to look at, into the folder for temporary files"]
fn draw_the_gallery() {
    let folder = std::env::temp_dir().join("fleetsim-charts");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, svg) in gallery() {
        std::fs::write(folder.join(format!("{name}.svg")), &svg).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), png(&svg, 1.0).unwrap()).unwrap();
    }
}
