//! The documentation shows the table that the program decides by.

use std::path::Path;

use fleetsim::scheduler::disruption;

const BEGIN: &str = "<!-- table: ";
const END: &str = "<!-- end of the table -->";

#[test]
fn n3_to_n8_the_documented_table_is_the_programs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/node-disruption-policy.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (comment, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let table = disruption::markdown();
    let expected = format!("{before}{BEGIN}{comment}\n\n{table}\n{END}{after}");
    if std::env::var_os("FLEETSIM_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).unwrap();
    } else {
        let hint = "rewrite it: FLEETSIM_BLESS=1 cargo test --test it disruption";
        assert!(text == expected, "{} differs; {hint}", path.display());
    }
}

const SCENARIO: &str = r#"
name: policies
start: 2026-03-02T08:00:00Z
horizon: 60d
fleet:
  members:
    - {name: open, region: westeurope}
    - name: sundays
      region: westeurope
      nodeDisruptionPolicy: AllowDuringMaintenanceWindow
      maintenance:
        aksManagedNodeOSUpgradeSchedule: {schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Sunday}}, durationHours: 4, startTime: "01:00", utcOffset: "+01:00"}
    - name: other-window
      region: westeurope
      nodeDisruptionPolicy: AllowDuringMaintenanceWindow
      maintenance:
        aksManagedAutoUpgradeSchedule: {schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Sunday}}, durationHours: 4, startTime: "01:00", utcOffset: "+01:00"}
    - {name: holidays, region: westeurope, nodeDisruptionPolicy: Block}
update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}
"#;

/// Asks `policy explain`, with the scenario on stdin.
fn explain(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_fleetsim"));
    command.args(["policy", "explain"]).args(arguments).write_stdin(SCENARIO);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let (code, stdout, stderr) = explain(&[arguments, &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn policy_explain_prints_its_answer_as_json() {
    let asked = ["networkPolicy", "--from", "none", "--to", "azure", "--policy", "Block"];
    let expected = serde_json::json!({
        "operation": "networkPolicy",
        "scope": "cluster",
        "from": "none",
        "to": "azure",
        "reimages": true,
        "covered": true,
        "decision": "refused",
        "message": "nodeDisruptionPolicy is Block and changing networkPolicy from none to azure \
                    reimages nodes: change the policy first",
        "nextOpening": null,
    });
    assert_eq!(json(&asked), expected);
    assert!(json(&asked[..5]).get("decision").is_none(), "absent without a policy");
    assert_eq!(json(&[&asked[..], &["--with-upgrade"]].concat())["decision"], "notGoverned");
}

#[test]
fn policy_explain_takes_policy_window_and_start_from_the_member() {
    let ask = |more: &[&str]| {
        let asked = ["vtpm", "--from", "Disabled", "--to", "Enabled", "--scenario", "-"];
        json(&[&asked[..], more].concat())
    };
    let answer = ask(&["--member", "sundays"]);
    assert_eq!(answer["scope"], "pool");
    assert_eq!(answer["decision"], "refused");
    assert_eq!(answer["nextOpening"], "2026-03-08T00:00:00Z");
    let answer = ask(&["--member", "sundays", "--at", "2026-03-08T00:00:00Z"]);
    assert_eq!(answer["decision"], "allowed");
    assert!(answer["nextOpening"].is_null());
    let answer = ask(&["--member", "sundays", "--at", "2026-03-08T04:00:00Z"]);
    assert_eq!(answer["nextOpening"], "2026-03-15T00:00:00Z");
    assert_eq!(ask(&["--member", "open"])["decision"], "allowed");
    assert_eq!(ask(&["--member", "other-window"])["decision"], "allowed", "N2: the other window");
    assert_eq!(ask(&["--member", "holidays"])["decision"], "refused");
    let in_window = ["--policy", "AllowDuringMaintenanceWindow"];
    assert_eq!(ask(&[&["--member", "open"], &in_window[..]].concat())["decision"], "allowed");
    assert!(ask(&[]).get("decision").is_none(), "no member, no policy");
}

#[test]
fn policy_explain_refuses_what_it_does_not_know() {
    let refused = |arguments: &[&str], expected: &str| {
        let (code, stdout, stderr) = explain(arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    };
    refused(&["networkpolicy", "--from", "none", "--to", "azure"], "did you mean networkPolicy?");
    refused(
        &["networkPolicy", "--from", "none", "--to", "Azure"],
        "`Azure` is no value of networkPolicy; its values are none, azure, calico, cilium",
    );
    refused(&["networkPolicy", "--to", "azure"], "none, azure, calico, cilium");
    refused(&["trustedCa", "--policy", "block"], "Allow, AllowDuringMaintenanceWindow, Block");
    refused(&["trustedCa", "--scenario", "-", "--member", "sunday"], "sundays");
    refused(&["trustedCa", "--member", "sundays"], "--scenario");
}

#[test]
fn policy_explain_answers_people_and_spreadsheets() {
    let asked = ["trustedCa", "--member", "sundays", "--scenario", "-"];
    let (code, stdout, _) = explain(&asked);
    assert_eq!(code, Some(0));
    for line in ["refused", "Sun 2026-03-08 00:00Z", "the nodes of all pools of the cluster"] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let (_, stdout, _) = explain(&[&asked[..], &["--format", "csv"]].concat());
    assert!(stdout.starts_with("what,answer\nchange,trustedCa\n"), "{stdout}");
}
