//! The models of releases against what was measured (the targets of the world's page): one table,
//! printed into the documentation.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fleetsim::fleet::regions;
use fleetsim::ids::RegionId;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::Released;
use fleetsim::sim::draw::Luck;
use fleetsim::sim::releases::{Arrivals, Release, Releases, Wants};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::read;

const PAGE: &str = "docs/world.md";
const BEGIN: &str = "<!-- validation: written by a test -->\n";
const END: &str = "<!-- end of validation -->\n";
/// Set to 1, it makes the test write the table instead of comparing it.
const BLESS: &str = "FLEETSIM_BLESS";
/// The sample: 2026-07-20 to 08-12, 552 hours.
const HOURS: i64 = 552;
const WINDOWS: u32 = 400;

const PAIRS: [(&str, &str, f64); 4] = [
    ("northeurope", "westeurope", 0.40),
    ("eastus2", "centralus", 0.55),
    ("westus2", "westus3", 0.58),
    ("eastus", "westeurope", 0.71),
];
const AGES: [(&str, f64); 2] = [("westcentralus", 11.2), ("westeurope", 21.4)];
const AGE_EVERYWHERE: f64 = 22.0;

/// A fleet with a Linux pool in every region, from the first hour of the sample to its last.
fn scenario(model: &str) -> Scenario {
    let member = |region: &regions::Region| {
        format!("    - {{name: {0}, region: {0}, pools: [{{name: p}}]}}\n", region.name)
    };
    let members: String = regions::all().iter().map(member).collect();
    read(&format!(
        "name: sample\nstart: 2026-07-20T00:00:00Z\nhorizon: {HOURS}h\nseed: 2026\nfleet:\n  \
         members:\n{members}update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}\n\
         strategies: [{{name: s}}]\nworld: {{releases: {{model: {model}}}}}\n"
    ))
}

fn region(scenario: &Scenario, name: &str) -> RegionId {
    let found = scenario.fleet.regions.iter().position(|region| region == name).unwrap();
    RegionId(u32::try_from(found).unwrap())
}

fn days(span: Span) -> f64 {
    span.as_secs_f64() / 86_400.0
}

/// The day that an image is named after.
fn dated(release: &Release) -> Timestamp {
    let name = release.image().unwrap().version.to_string();
    format!("{}-{}-{}", &name[..4], &name[4..6], &name[7..9]).parse().unwrap()
}

/// The statistics of one window: the four shares, then the three ages. Hours count for an age only
/// if the image `is_known` to have arrived.
fn window(
    scenario: &Scenario,
    arrivals: &Arrivals,
    is_known: &dyn Fn(&str, Timestamp) -> bool,
) -> Vec<f64> {
    let releases = u32::try_from(arrivals.releases.len()).unwrap();
    let newest = |name: &str, now: Timestamp| {
        let id = region(scenario, name);
        let there = |release: &u32| {
            let at = arrivals.reached(*release, id);
            at.is_some_and(|at| at <= now && is_known(name, at))
        };
        (0..releases).rev().find(there)
    };
    let public: Vec<&str> = regions::all()
        .iter()
        .filter(|region| (1..=6).contains(&region.order))
        .map(|region| region.name)
        .collect();
    // When each release was in all public regions.
    let everywhere: Vec<Option<Timestamp>> = (0..releases)
        .map(|release| {
            let reached = public.iter().map(|name| {
                let at = arrivals.reached(release, region(scenario, name))?;
                is_known(name, at).then_some(at)
            });
            reached.collect::<Option<Vec<_>>>()?.into_iter().max()
        })
        .collect();
    let (mut differ, mut ages) = ([0.0; 4], [(0.0, 0.0); 3]);
    for hour in 0..HOURS {
        let now = scenario.start + Span::from_hours(hour);
        for (sum, (a, b, _)) in differ.iter_mut().zip(PAIRS) {
            *sum += f64::from(u8::from(newest(a, now) != newest(b, now)));
        }
        let common =
            (0..releases).rev().find(|r| everywhere[*r as usize].is_some_and(|at| at <= now));
        let found = [newest(AGES[0].0, now), newest(AGES[1].0, now), common];
        for ((sum, hours), release) in ages.iter_mut().zip(found) {
            if let Some(release) = release {
                *sum += days(now - dated(&arrivals.releases[release as usize]));
                *hours += 1.0;
            }
        }
    }
    let hours = f64::from(i32::try_from(HOURS).unwrap());
    differ.iter().map(|sum| sum / hours).chain(ages.map(|(sum, hours)| sum / hours)).collect()
}

/// One line of the table.
struct Target {
    name: String,
    measured: f64,
    /// Ascending.
    simulated: Vec<f64>,
}

impl Target {
    fn new(name: impl Into<String>, measured: f64, mut simulated: Vec<f64>) -> Self {
        simulated.sort_by(f64::total_cmp);
        Self { name: name.into(), measured, simulated }
    }

    fn at(&self, per_mille: usize) -> f64 {
        self.simulated[self.simulated.len() * per_mille / 1_000]
    }

    fn is_met(&self) -> bool {
        self.at(25) <= self.measured && self.measured <= self.at(975)
    }

    fn row(&self) -> String {
        format!(
            "| {} | {} | {:.2} | {:.2} to {:.2} | {} |\n",
            self.name,
            self.measured,
            self.at(500),
            self.at(25),
            self.at(975),
            if self.is_met() { "met" } else { "**missed**" }
        )
    }
}

/// One sample of 23 days against simulated windows of equal length.
fn sampled(train: &Scenario) -> Vec<Target> {
    let releases = Releases::new(train.setting(), Wants::default());
    let (mut arrivals, mut found) = (Arrivals::default(), vec![vec![]; 7]);
    for replication in 0..WINDOWS {
        releases.draw(&Luck::new(train.seed), replication, &mut arrivals);
        let window = window(train, &arrivals, &|_, _| true);
        found.iter_mut().zip(window).for_each(|(all, value)| all.push(value));
    }
    let display = |name: &str| regions::find(name).unwrap().display;
    let pairs = PAIRS.map(|(a, b, measured)| {
        let name = format!("share of hours: {} and {} differ", display(a), display(b));
        (name, measured)
    });
    let ages = AGES.map(|(name, age)| (format!("age of the newest, {}, days", display(name)), age));
    let everywhere = ("age of the newest in all public regions, days".to_owned(), AGE_EVERYWHERE);
    let names = pairs.into_iter().chain(ages).chain([everywhere]);
    names.zip(found).map(|((name, measured), found)| Target::new(name, measured, found)).collect()
}

/// Lags of whole rollouts, in samples of three as measured.
fn waves(train: &Scenario) -> Vec<Target> {
    let releases = Releases::new(train.setting(), Wants::default());
    let luck = Luck::new(11);
    let mut arrivals = Arrivals::default();
    let of_order = |order: u8| -> Vec<RegionId> {
        let all = regions::all().iter().filter(|region| region.order == order);
        all.map(|found| region(train, found.name)).collect()
    };
    let (five, six) = (of_order(5), of_order(6));
    let (mut all_five, mut all_six, mut last) = (vec![], vec![], vec![]);
    for replication in 0..400 {
        releases.draw(&luck, replication, &mut arrivals);
        for number in 0..u32::try_from(arrivals.releases.len()).unwrap() {
            let published = arrivals.releases[number as usize].published;
            let lags = |order: &[RegionId]| -> Option<Vec<f64>> {
                let lag = |id: &RegionId| Some(days(arrivals.reached(number, *id)? - published));
                order.iter().map(lag).collect()
            };
            if let (Some(five), Some(six)) = (lags(&five), lags(&six)) {
                last.push(six.iter().copied().fold(0.0, f64::max));
                all_five.push(five);
                all_six.push(six);
            }
        }
    }
    let of_three = |all: &[Vec<f64>]| -> (Vec<f64>, Vec<f64>) {
        all.chunks_exact(3).map(|three| mean_and_sd(&three.concat())).unzip()
    };
    let ((mean_5, sd_5), (mean_6, sd_6)) = (of_three(&all_five), of_three(&all_six));
    vec![
        Target::new("order 5, days after order 1: mean", 5.19, mean_5),
        Target::new("order 5: standard deviation", 1.17, sd_5),
        Target::new("order 6, days after order 1: mean", 8.07, mean_6),
        Target::new("order 6: standard deviation", 0.63, sd_6),
        Target::new("last public region, days after order 1: 202607.20.0", 8.4, last.clone()),
        Target::new("last public region: 202607.29.0", 8.9, last.clone()),
        Target::new("last public region: 202607.09.0", 9.2, last),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / values.len() as f64).sqrt())
}

/// AKS releases of 2026: the last region on record, Southwest US, after the release's date.
fn aks_releases() -> Vec<Target> {
    let scenario = read(
        "name: patch\nstart: 2026-04-01T00:00:00Z\nhorizon: 90d\nfleet: {members: [{name: m, region: \
         southwestus, kubernetesVersion: 1.34.4, pools: []}]}\nupdate: {managedClusterUpdate: \
         {upgrade: {type: ControlPlaneOnly, kubernetesVersion: 1.34.5}}}\nstrategies: [{name: s}]\n",
    );
    let releases = Releases::new(scenario.setting(), Wants::default());
    let mut arrivals = Arrivals::default();
    let dated: Timestamp = "2026-04-28".parse().unwrap();
    let mut lags = vec![];
    for replication in 0..400 {
        releases.draw(&Luck::new(7), replication, &mut arrivals);
        let number = arrivals.find(Released::Kubernetes("1.34.5".parse().unwrap())).unwrap();
        lags.push(days(arrivals.reached(number, RegionId(0)).unwrap() - dated));
    }
    [("v20260428", 27.6), ("v20260619", 35.3), ("v20260529", 36.2)]
        .map(|(name, measured)| {
            let name = format!("AKS release to Southwest US, days after its date: {name}");
            Target::new(name, measured, lags.clone())
        })
        .into()
}

/// The recorded instants, by region: what the history's other arrivals are not.
fn recorded() -> BTreeSet<(String, String)> {
    let table = include_str!("../../data/node-image-history.csv");
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.flat_map(|row| {
        let (region, cells) = row.split_once(',').unwrap();
        cells.split(',').map(|cell| (region.to_owned(), cell.to_owned())).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn w2_the_history_reproduces_what_was_measured() {
    let scenario = scenario("history");
    let releases = Releases::new(scenario.setting(), Wants::default());
    let recorded = recorded();
    let is_known =
        |name: &str, at: Timestamp| recorded.contains(&(name.to_owned(), at.to_string()));
    let found = window(&scenario, releases.fixed().unwrap(), &is_known);
    let shares = PAIRS.iter().map(|(_, _, share)| (*share, 100.0));
    let ages = AGES.iter().map(|(_, age)| (*age, 10.0)).chain([(AGE_EVERYWHERE, 10.0)]);
    for (found, (measured, scale)) in found.iter().zip(shares.chain(ages)) {
        // To the last digit that was published.
        assert!(((found * scale).round() - measured * scale).abs() < 1e-6, "{found} {measured}");
    }
}

#[test]
fn w1_the_train_gives_what_was_measured_and_the_table_says_where_it_does_not() {
    let train = scenario("train");
    let targets: Vec<Target> =
        sampled(&train).into_iter().chain(waves(&train)).chain(aks_releases()).collect();
    let mut table = String::from(
        "| target | measured | simulated median | central 95 % | |\n| --- | --- | --- | --- | --- |\n",
    );
    table.extend(targets.iter().map(Target::row));
    let met = targets.iter().filter(|target| target.is_met()).count();
    write!(table, "\n{met} of {} targets are met.\n", targets.len()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (written, after) = rest.split_once(END).expect("the table has an end");
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        fs::write(&path, format!("{before}{BEGIN}\n{table}\n{END}{after}")).unwrap();
    } else {
        assert!(
            written == format!("\n{table}\n"),
            "the table in {PAGE} is out of date. If the model is right, write it anew:\n\n    \
             {BLESS}=1 cargo test --test it validation::\n\nIt should be:\n\n{table}"
        );
    }
    // Whatever the table says, the train must not drift away from the sample.
    assert!(met + 1 >= targets.len(), "{table}");
}
