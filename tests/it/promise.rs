//! The promise of scenarios/patch-promise.yaml: through the calendar, and as its user runs it.

use fleetsim::calendar::Window;
use fleetsim::scenario::Scenario;
use fleetsim::scenario::vary::{Edit, Variation};
use fleetsim::sim::End;
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{experiment, run};

const SCENARIO: &str = include_str!("../../scenarios/patch-promise.yaml");
const DAYS: &str = "start=2026-01-01..2026-12-31/364";

fn read(edits: &[Edit]) -> Scenario {
    let no_files = |name: &str| Err(name.to_owned());
    Scenario::read_varied("patch-promise.yaml", SCENARIO, &no_files, None, edits).unwrap().0
}

#[test]
fn a_third_tuesday_keeps_a_promise_of_15_days_for_192_of_365_days_and_every_week_for_all() {
    let scenario = read(&[]);
    let windows: Vec<&Window> = scenario.fleet.windows.iter().collect();
    let kept = |window: &Window| {
        let first: Timestamp = "2026-01-01".parse().unwrap();
        let days = (0..365).map(|day| first + Span::from_days(day));
        // The next opening after the day has begun, in whole days: local dates, at +00:00.
        let after = |day: Timestamp| {
            let opens = window.next_opening(day).unwrap();
            (opens - day).as_millis() / Span::DAY.as_millis()
        };
        days.filter(|day| after(*day) <= 15).count()
    };
    assert_eq!(windows.iter().map(|window| kept(window)).collect::<Vec<_>>(), [192, 365]);
}

#[test]
fn the_sweep_over_all_days_of_2026_completes_as_many_runs_in_time() {
    let Variation { path, values } = DAYS.parse().unwrap();
    assert_eq!(values.len(), 365);
    assert_eq!((&*values[0], &*values[364]), ("2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z"));
    let mut completed = [0, 0];
    for value in values {
        let scenario = read(&[Edit { path: path.clone(), value }]);
        let outcomes = run(&experiment(&scenario), 1, 1);
        for (count, outcomes) in completed.iter_mut().zip(&outcomes.by_strategy) {
            *count += u32::from(outcomes[0].end == End::Completed);
        }
    }
    assert_eq!(completed, [192, 365]);
}
