//! Maintenance configurations as `az aks maintenanceconfiguration` prints them (M1, R-J8, R-J9).

use std::collections::{BTreeMap, BTreeSet};

use super::access::{Field, Map};
use crate::calendar::{
    Date, MaintenanceWindow, MissingDay, NotAllowedDates, NotAllowedTime, Schedule, TimeOfDay,
    UtcOffset, WeekAnchor, WeekIndex, Weekday,
};
use crate::fleet::regions;

/// What a time of day looks like, for messages.
pub(super) const TIME: &str = "a time of day such as \"02:00\"";
/// What an offset looks like, for messages.
pub(super) const OFFSET: &str = "a UTC offset from \"-14:00\" to \"+14:00\", such as \"+01:00\"";
const DATE: &str = "a date such as 2026-03-02";

/// What ARM prints around a window; read past.
const RESOURCE: &[&str] = &[
    "maintenanceWindow",
    "properties",
    "timeInWeek",
    "notAllowedTime",
    "id",
    "name",
    "type",
    "eTag",
    "systemData",
    "resourceGroup",
];
const WINDOW: &[&str] = &[
    "schedule",
    "durationHours",
    "startDate",
    "startTime",
    "utcOffset",
    "notAllowedDates",
    "weekAnchor",
    "missingDay",
    // What stands beside them when a printed configuration is pasted without its wrapper.
    "timeInWeek",
    "notAllowedTime",
];

/// Reads one configuration: the window itself, or wrapped in `maintenanceWindow`, or in
/// `properties` too. The older form is only for `default`.
pub(super) fn read(
    field: &Field<'_>,
    region: Option<&str>,
    is_default: bool,
) -> Option<MaintenanceWindow> {
    let holds = |key| field.node.get(key).is_some_and(|node| !node.is_null());
    if holds("properties") {
        let outer = field.map("a maintenance configuration", RESOURCE)?;
        return read(&outer.get("properties")?, region, is_default);
    }
    if holds("maintenanceWindow") {
        let outer = field.map("a maintenance configuration", RESOURCE)?;
        return window(
            &outer.get("maintenanceWindow")?.map("a maintenance window", WINDOW)?,
            region,
        );
    }
    if holds("timeInWeek") || holds("notAllowedTime") && !holds("schedule") {
        let map = field.map("a maintenance configuration", RESOURCE)?;
        if !is_default {
            map.notes
                .error(
                    map.place_of("timeInWeek"),
                    "M1",
                    "`timeInWeek` is the older form, only for `default`",
                )
                .hint("write a `schedule`, `durationHours` and `startTime` instead");
        }
        return Some(time_in_week(&map));
    }
    window(&field.map("a maintenance window", WINDOW)?, region)
}

fn window(map: &Map<'_>, region: Option<&str>) -> Option<MaintenanceWindow> {
    let schedule = map.need("schedule").and_then(|field| schedule(&field));
    let hours = MaintenanceWindow::DURATION_HOURS;
    let (low, high) = (i128::from(*hours.start()), i128::from(*hours.end()));
    let duration_hours = map.need("durationHours").and_then(|field| field.integer(low, high));
    let start_time = map.need("startTime").and_then(|field| field.parsed::<TimeOfDay>(TIME));
    let start_date = map.get("startDate").and_then(|field| field.parsed::<Date>(DATE));
    let offset = map.get("utcOffset").map_or(Some(UtcOffset::UTC), |f| offset(&f, region));
    let mut not_allowed = vec![];
    for item in map.get("notAllowedDates").iter().filter_map(Field::items).flatten() {
        let Some(dates) = item.map("an entry of notAllowedDates", &["start", "end"]) else {
            continue;
        };
        let start = dates.need("start").and_then(|field| field.parsed::<Date>(DATE));
        let end = dates.need("end").and_then(|field| field.parsed::<Date>(DATE));
        let (Some(start), Some(end)) = (start, end) else { continue };
        if end < start {
            item.fail(
                "M4",
                format!("the forbidden days end on {end}, before they start on {start}"),
            )
            .hint("`start` is the first forbidden day, `end` the last");
        }
        not_allowed.push(NotAllowedDates { start, end });
    }
    let anchors =
        [("calendar", WeekAnchor::Calendar), ("firstOccurrence", WeekAnchor::FirstOccurrence)];
    let missing = [("lastDay", MissingDay::LastDay), ("skip", MissingDay::Skip)];
    let anchor = map.get("weekAnchor").and_then(|field| field.word(&anchors));
    let missing_day = map.get("missingDay").and_then(|field| field.word(&missing));
    Some(MaintenanceWindow {
        schedule: schedule?,
        duration_hours: duration_hours?,
        start_date,
        start_time: start_time?,
        offset: offset?,
        not_allowed,
        week_anchor: anchor.unwrap_or_default(),
        missing_day: missing_day.unwrap_or_default(),
    })
}

fn offset(field: &Field<'_>, region: Option<&str>) -> Option<UtcOffset> {
    if field.node.as_text() != Some("region") {
        return field.parsed(OFFSET);
    }
    let known = region.and_then(regions::find).map(|region| region.january);
    if known.is_none() {
        let region = region.unwrap_or("this member");
        field
            .fail("unknown-region", format!("the UTC offset of `{region}` is not known"))
            .hint("write the offset itself, such as \"+01:00\"");
    }
    known
}

fn schedule(field: &Field<'_>) -> Option<Schedule> {
    const KINDS: &[&str] = &["daily", "weekly", "absoluteMonthly", "relativeMonthly"];
    let map = field.map("a schedule", KINDS)?;
    let mut given = KINDS.iter().filter_map(|kind| map.get(kind));
    let (first, second) = (given.next(), given.next());
    let Some(kind) = first else {
        field
            .fail("M1", "a schedule needs one of daily, weekly, absoluteMonthly, relativeMonthly")
            .hint("every Sunday, say: schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Sunday}}");
        return None;
    };
    if let Some(other) = second {
        other.fail("M1", format!("a schedule is `{}` or `{}`, not both", kind.name, other.name));
    }
    match kind.name {
        "daily" => {
            let map = kind.map("a daily schedule", &["intervalDays"])?;
            Some(Schedule::Daily { interval_days: interval(&map, "intervalDays")? })
        }
        "weekly" => {
            let map = kind.map("a weekly schedule", &["intervalWeeks", "dayOfWeek"])?;
            let (interval, day) = (interval(&map, "intervalWeeks"), day_of_week(&map));
            Some(Schedule::Weekly { interval_weeks: interval?, day: day? })
        }
        "absoluteMonthly" => {
            let keys = &["intervalMonths", "dayOfMonth"];
            let map = kind.map("a monthly schedule", keys)?;
            let interval = interval(&map, "intervalMonths");
            let day = map.need("dayOfMonth").and_then(|field| field.integer(1, 31));
            Some(Schedule::AbsoluteMonthly { interval_months: interval?, day_of_month: day? })
        }
        _ => {
            let keys = &["intervalMonths", "weekIndex", "dayOfWeek"];
            let map = kind.map("a monthly schedule", keys)?;
            let words = [WeekIndex::First, WeekIndex::Second, WeekIndex::Third, WeekIndex::Fourth];
            let index = map.need("weekIndex").and_then(|field| {
                let [first, second, third, fourth] = words;
                field.word(&[
                    ("First", first),
                    ("Second", second),
                    ("Third", third),
                    ("Fourth", fourth),
                    ("Last", WeekIndex::Last),
                ])
            });
            let (interval, day) = (interval(&map, "intervalMonths"), day_of_week(&map));
            Some(Schedule::RelativeMonthly {
                interval_months: interval?,
                week_index: index?,
                day: day?,
            })
        }
    }
}

fn interval(map: &Map<'_>, key: &'static str) -> Option<u32> {
    map.need(key)?.integer(1, i128::from(u32::MAX))
}

fn day_of_week(map: &Map<'_>) -> Option<Weekday> {
    weekday(&map.need("dayOfWeek")?)
}

/// A day by its English name.
pub(super) fn weekday(field: &Field<'_>) -> Option<Weekday> {
    field.word(&[
        ("Sunday", Weekday::Sunday),
        ("Monday", Weekday::Monday),
        ("Tuesday", Weekday::Tuesday),
        ("Wednesday", Weekday::Wednesday),
        ("Thursday", Weekday::Thursday),
        ("Friday", Weekday::Friday),
        ("Saturday", Weekday::Saturday),
    ])
}

/// The older form of `default`: hours of the week, in UTC.
fn time_in_week(map: &Map<'_>) -> MaintenanceWindow {
    let mut slots: BTreeMap<Weekday, BTreeSet<u32>> = BTreeMap::new();
    for item in map.get("timeInWeek").iter().filter_map(Field::items).flatten() {
        let Some(entry) = item.map("an entry of timeInWeek", &["day", "hourSlots"]) else {
            continue;
        };
        let Some(day) = entry.need("day").and_then(|field| weekday(&field)) else { continue };
        let hours = entry.need("hourSlots");
        for hour in hours.iter().filter_map(Field::items).flatten() {
            slots.entry(day).or_default().extend(hour.integer::<u32>(0, 23));
        }
    }
    let mut not_allowed = vec![];
    for item in map.get("notAllowedTime").iter().filter_map(Field::items).flatten() {
        let Some(time) = item.map("an entry of notAllowedTime", &["start", "end"]) else {
            continue;
        };
        let start = time.need("start").and_then(|field| field.parsed(super::INSTANT));
        let end = time.need("end").and_then(|field| field.parsed(super::INSTANT));
        let (Some(start), Some(end)) = (start, end) else { continue };
        if end < start {
            item.fail("M4", "the forbidden time ends before it starts");
        }
        not_allowed.push(NotAllowedTime { start, end });
    }
    MaintenanceWindow::time_in_week(slots, not_allowed)
}
