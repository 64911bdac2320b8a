//! Every row of the table, and every decision.

use super::*;
use crate::calendar::{
    MaintenanceWindow, MissingDay, NotAllowedDates, Schedule, UtcOffset, WeekAnchor, Weekday,
};
use Decision::{Allowed, NotGoverned, Refused};
use NodeDisruptionPolicy::{Allow, AllowDuringMaintenanceWindow, Block};

/// N3, written out pair by pair: all changes of operations with listed values that reimage.
const N3_PAIRS: &[(&str, &str, &str)] = &[
    ("networkPolicy", "none", "azure"),
    ("networkPolicy", "none", "calico"),
    ("networkPolicy", "azure", "none"),
    ("networkPolicy", "calico", "none"),
    ("networkPolicy", "none", "cilium"),
    ("networkPolicy", "azure", "cilium"),
    ("networkPolicy", "calico", "cilium"),
    ("networkPolicy", "cilium", "none"),
    ("networkPolicy", "cilium", "azure"),
    ("networkPolicy", "cilium", "calico"),
    ("networkPlugin", "azure", "azureOverlay"),
    ("nodeOSUpgradeChannel", "Unmanaged", "None"),
    ("nodeOSUpgradeChannel", "Unspecified", "Unmanaged"),
    ("nodeOSUpgradeChannel", "SecurityPatch", "Unmanaged"),
    ("nodeOSUpgradeChannel", "NodeImage", "Unmanaged"),
    ("nodeOSUpgradeChannel", "None", "Unmanaged"),
    ("nodeOSUpgradeChannel", "Unmanaged", "SecurityPatch"),
    ("nodeOSUpgradeChannel", "Unmanaged", "NodeImage"),
    ("ipFamilies", "IPv4", "dualStack"),
    ("networkDataplane", "none", "cilium"),
    ("networkDataplane", "cilium", "none"),
    ("httpProxyEnabled", "false", "true"),
    ("httpProxyEnabled", "true", "false"),
    ("apiServerVnetIntegration", "false", "true"),
    ("ebpfHostRouting", "false", "true"),
    ("ebpfHostRouting", "true", "false"),
];
/// N4, likewise.
const N4_PAIRS: &[(&str, &str, &str)] = &[
    ("vtpm", "Disabled", "Enabled"),
    ("vtpm", "Enabled", "Disabled"),
    ("secureBoot", "Disabled", "Enabled"),
    ("secureBoot", "Enabled", "Disabled"),
    ("artifactStreaming", "Disabled", "Enabled"),
    ("artifactStreaming", "Enabled", "Disabled"),
    ("windowsGmsa", "disabled", "enabled"),
    ("windowsGmsa", "disabled", "enabledWithDns"),
    ("windowsGmsa", "enabled", "enabledWithDns"),
    ("windowsGmsa", "enabledWithDns", "enabled"),
    ("windowsGmsa", "enabledWithDns", "enabledWithDns"),
    ("windowsGmsa", "enabledWithDns", "disabled"),
    ("capacityReservationGroup", "none", "attached"),
];
/// N8, by name: rule, scope, operation, number of its values (0: any text).
const N8_NAMES: &[(Rule, Scope, &str, usize)] = &[
    (Rule::N3, Scope::Cluster, "networkPolicy", 4),
    (Rule::N3, Scope::Cluster, "networkPlugin", 2),
    (Rule::N3, Scope::Cluster, "nodeOSUpgradeChannel", 5),
    (Rule::N3, Scope::Cluster, "ipFamilies", 2),
    (Rule::N3, Scope::Cluster, "networkDataplane", 2),
    (Rule::N3, Scope::Cluster, "httpProxy", 0),
    (Rule::N3, Scope::Cluster, "httpsProxy", 0),
    (Rule::N3, Scope::Cluster, "noProxy", 0),
    (Rule::N3, Scope::Cluster, "trustedCa", 0),
    (Rule::N3, Scope::Cluster, "httpProxyEnabled", 2),
    (Rule::N3, Scope::Cluster, "customCaTrustCertificates", 0),
    (Rule::N3, Scope::Cluster, "kubeletIdentity", 0),
    (Rule::N3, Scope::Cluster, "privateDnsZone", 0),
    (Rule::N3, Scope::Cluster, "apiServerVnetIntegration", 2),
    (Rule::N3, Scope::Cluster, "ebpfHostRouting", 2),
    (Rule::N4, Scope::Pool, "localDnsProfile", 0),
    (Rule::N4, Scope::Pool, "vtpm", 2),
    (Rule::N4, Scope::Pool, "secureBoot", 2),
    (Rule::N4, Scope::Pool, "artifactStreaming", 2),
    (Rule::N4, Scope::Pool, "windowsGmsa", 3),
    (Rule::N4, Scope::Pool, "capacityReservationGroup", 2),
    (Rule::N5, Scope::Pool, "sshAccess", 0),
    (Rule::N5, Scope::Cluster, "imdsRestriction", 0),
    (Rule::N5, Scope::Cluster, "bootstrapProfile", 0),
    (Rule::N5, Scope::Cluster, "outboundType", 0),
    (Rule::N6, Scope::Pool, "nodeImageVersion", 0),
    (Rule::N6, Scope::Cluster, "kubernetesVersion", 0),
    (Rule::N6, Scope::Pool, "poolRollback", 0),
    (Rule::N6, Scope::Cluster, "adminRestore", 0),
    (Rule::N6, Scope::Cluster, "identityCredentialUpdate", 0),
    (Rule::N6, Scope::Cluster, "emergencyMaintenance", 0),
];

fn change(operation: &'static str, from: &'static str, to: &'static str) -> Change<'static> {
    Operation::named(operation).unwrap().change(Some(from), Some(to)).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Sundays from 01:00 to 05:00 in UTC.
fn sundays() -> MaintenanceWindow {
    MaintenanceWindow {
        schedule: Schedule::Weekly { interval_weeks: 1, day: Weekday::Sunday },
        duration_hours: 4,
        start_date: None,
        start_time: "01:00".parse().unwrap(),
        offset: UtcOffset::UTC,
        not_allowed: vec![],
        week_anchor: WeekAnchor::default(),
        missing_day: MissingDay::default(),
    }
}

fn decide(change: &Change<'_>, policy: NodeDisruptionPolicy, window: Option<&Window>) -> Decision {
    change.judge(policy, window, at("2026-03-02T08:00:00Z")).decision()
}

#[test]
fn n8_operations_have_their_names_scopes_and_values() {
    let all: Vec<_> =
        Operation::all().map(|it| (it.rule(), it.scope(), it.name(), it.values().len())).collect();
    assert_eq!(all, N8_NAMES);
    assert_eq!(Operation::named("networkpolicy"), None, "case as in the API");
    let channels = ["Unspecified", "None", "Unmanaged", "SecurityPatch", "NodeImage"];
    assert_eq!(Operation::named("nodeOSUpgradeChannel").unwrap().values(), channels);
    assert_eq!(Operation::named("networkPlugin").unwrap().values(), ["azure", "azureOverlay"]);
    assert_eq!(Operation::named("ipFamilies").unwrap().values(), ["IPv4", "dualStack"]);
    assert_eq!(Operation::named("vtpm").unwrap().values(), ["Disabled", "Enabled"]);
}

#[test]
fn n3_n4_n8_of_listed_values_exactly_these_pairs_reimage() {
    let mut pairs = 0;
    for operation in Operation::all() {
        for from in operation.values() {
            for to in operation.values() {
                let expected =
                    [N3_PAIRS, N4_PAIRS].concat().contains(&(operation.name(), from, to));
                let change = operation.change(Some(from), Some(to)).unwrap();
                assert_eq!(change.reimages(), expected, "{change}");
                pairs += usize::from(expected);
            }
        }
    }
    assert_eq!(pairs, N3_PAIRS.len() + N4_PAIRS.len(), "every pair is one of listed values");
}

#[test]
fn n3_n4_n8_without_listed_values_any_change_reimages_and_no_change_does_not() {
    for operation in Operation::all().filter(|it| it.values().is_empty()) {
        let expected = operation.rule() != Rule::N5;
        let reimages = |from, to| operation.change(from, to).unwrap().reimages();
        assert_eq!(reimages(Some("none"), Some("x")), expected, "{operation:?}");
        assert_eq!(reimages(Some("x"), Some("none")), expected, "{operation:?}");
        assert_eq!(reimages(None, Some("x")), expected, "{operation:?}");
        assert_eq!(reimages(Some("x"), None), expected, "{operation:?}");
        assert_eq!(reimages(None, None), expected, "{operation:?}");
        assert!(!reimages(Some("x"), Some("x")), "{operation:?}");
    }
}

/// N4 lists what reimages: enabling; a change of DNS server or root domain while enabled, in which
/// one that is given, taken or replaced is changed; disabling with DNS. N8: no other pair does.
#[test]
fn n4_n8_every_pair_of_windows_gmsa() {
    for (from, to, expected) in [
        ("disabled", "disabled", false),
        ("disabled", "enabled", true),
        ("disabled", "enabledWithDns", true),
        ("enabled", "disabled", false),
        ("enabled", "enabled", false),
        ("enabled", "enabledWithDns", true),
        ("enabledWithDns", "disabled", true),
        ("enabledWithDns", "enabled", true),
        ("enabledWithDns", "enabledWithDns", true),
    ] {
        let change = change("windowsGmsa", from, to);
        assert_eq!(change.reimages(), expected, "{change}");
        let decision = if expected { Refused } else { Allowed };
        assert_eq!(decide(&change, Block, None), decision, "{change}");
    }
}

#[test]
fn every_row_of_the_table_matters() {
    for row in &TABLE {
        let values = if row.values.is_empty() { &["x", "y"] } else { row.values };
        let all = values.iter().flat_map(|from| values.iter().map(move |to| (from, to)));
        let others = || TABLE.iter().filter(|other| other.operation == row.operation);
        let alone = all.filter(|(from, to)| {
            let speaks = |row: &&Row| row.speaks_of(Some(from), Some(to));
            speaks(&row) && others().filter(speaks).count() == 1
        });
        assert!(alone.count() > 0, "{row:?} says nothing that others do not say");
    }
}

#[test]
fn n1_policies_allow_allow_in_the_window_or_block() {
    let window = Window::new(&sundays(), at("2026-03-02T08:00:00Z"));
    for (operation, from, to) in [N3_PAIRS, N4_PAIRS].concat() {
        let change = change(operation, from, to);
        for window in [None, Some(&window)] {
            assert_eq!(decide(&change, Allow, window), Allowed, "{change}");
            assert_eq!(decide(&change, Block, window), Refused, "{change}");
        }
        assert_eq!(decide(&change, AllowDuringMaintenanceWindow, Some(&window)), Refused);
        let sunday = at("2026-03-08T02:00:00Z");
        let verdict = change.judge(AllowDuringMaintenanceWindow, Some(&window), sunday);
        assert_eq!(verdict, Verdict::WindowOpen { closes: at("2026-03-08T05:00:00Z") });
        assert_eq!(verdict.decision(), Allowed);
    }
}

#[test]
fn n2_without_a_window_everything_is_allowed() {
    let change = change("networkPolicy", "none", "azure");
    let verdict = change.judge(AllowDuringMaintenanceWindow, None, Timestamp::default());
    assert_eq!(verdict, Verdict::NoWindow);
    assert_eq!(verdict.decision(), Allowed);
    assert_eq!(verdict.next_opening(), None);
}

#[test]
fn r_j4_the_window_is_half_open() {
    let window = Window::new(&sundays(), at("2026-03-02T08:00:00Z"));
    let change = change("ipFamilies", "IPv4", "dualStack");
    let judge = |now| change.judge(AllowDuringMaintenanceWindow, Some(&window), at(now));
    let next = |text| Verdict::WindowClosed { next: Some(at(text)) };
    assert_eq!(judge("2026-03-08T00:59:59Z"), next("2026-03-08T01:00:00Z"));
    assert_eq!(judge("2026-03-08T01:00:00Z").decision(), Allowed);
    assert_eq!(judge("2026-03-08T04:59:59Z").decision(), Allowed);
    assert_eq!(judge("2026-03-08T05:00:00Z"), next("2026-03-15T01:00:00Z"));
    assert_eq!(judge("2026-03-08T05:00:00Z").next_opening(), Some(at("2026-03-15T01:00:00Z")));
}

#[test]
fn r_j7_a_window_that_never_opens_refuses_without_a_next_opening() {
    let all = NotAllowedDates {
        start: "2026-01-01".parse().unwrap(),
        end: "2099-12-31".parse().unwrap(),
    };
    let description = MaintenanceWindow { not_allowed: vec![all], ..sundays() };
    let window = Window::new(&description, at("2026-03-02T08:00:00Z"));
    let change = change("secureBoot", "Disabled", "Enabled");
    let now = at("2026-03-08T02:00:00Z");
    let verdict = change.judge(AllowDuringMaintenanceWindow, Some(&window), now);
    assert_eq!(verdict, Verdict::WindowClosed { next: None });
    assert!(verdict.message(&change).ends_with("never opens again"));
}

#[test]
fn n1_what_reimages_nothing_is_allowed_under_every_policy() {
    let window = Window::new(&sundays(), at("2026-03-02T08:00:00Z"));
    for (operation, from, to) in [
        ("networkPolicy", "azure", "calico"),
        ("nodeOSUpgradeChannel", "NodeImage", "SecurityPatch"),
        ("windowsGmsa", "enabled", "disabled"),
        ("apiServerVnetIntegration", "true", "false"),
        ("ipFamilies", "dualStack", "IPv4"),
        ("capacityReservationGroup", "attached", "none"),
        ("networkDataplane", "cilium", "cilium"),
        ("httpProxy", "http://a", "http://a"),
    ] {
        let change = change(operation, from, to);
        assert!(change.operation().is_covered(), "{change}");
        for policy in NodeDisruptionPolicy::ALL {
            assert_eq!(decide(&change, policy, Some(&window)), Allowed, "{change}");
        }
    }
}

#[test]
fn n5_n6_are_never_governed() {
    let window = Window::new(&sundays(), at("2026-03-02T08:00:00Z"));
    let mut seen = 0;
    for operation in Operation::all().filter(|it| !it.is_covered()) {
        seen += 1;
        for to in ["x", "y"] {
            let change = operation.change(Some("x"), Some(to)).unwrap();
            for policy in NodeDisruptionPolicy::ALL {
                assert_eq!(decide(&change, policy, Some(&window)), NotGoverned, "{change}");
            }
        }
    }
    assert_eq!(seen, 10);
}

#[test]
fn n6_what_travels_with_an_upgrade_is_not_governed() {
    for (operation, from, to) in [N3_PAIRS, N4_PAIRS].concat() {
        let change = Change { with_upgrade: true, ..change(operation, from, to) };
        assert_eq!(decide(&change, Block, None), NotGoverned, "{change}");
    }
    let change = Change { with_upgrade: true, ..change("sshAccess", "a", "b") };
    assert_eq!(change.judge(Block, None, Timestamp::default()), Verdict::NotCovered);
}

#[test]
fn n8_unknown_values_are_refused_with_those_that_there_are() {
    let policy = Operation::named("networkPolicy").unwrap();
    let error = policy.change(Some("none"), Some("Azure")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Azure` is no value of networkPolicy; its values are none, azure, calico, cilium"
    );
    assert_eq!(policy.change(Some("x"), Some("none")).unwrap_err().value, Some("x"));
    assert_eq!(
        policy.change(None, Some("none")).unwrap_err().to_string(),
        "networkPolicy changes from one of its values to another: none, azure, calico, cilium"
    );
}

#[test]
fn n1_refusals_say_which_policy_and_when_to_ask_again() {
    let change = change("networkPolicy", "none", "azure");
    assert_eq!(
        Verdict::Blocked.message(&change),
        "nodeDisruptionPolicy is Block and changing networkPolicy from none to azure reimages \
         nodes: change the policy first"
    );
    let next = Some(at("2026-03-08T01:00:00Z"));
    assert_eq!(
        Verdict::WindowClosed { next }.message(&change),
        "nodeDisruptionPolicy is AllowDuringMaintenanceWindow and changing networkPolicy from \
         none to azure reimages nodes: aksManagedNodeOSUpgradeSchedule is closed until \
         2026-03-08T01:00:00Z: ask again then"
    );
}
