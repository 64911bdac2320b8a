//! The Kubernetes patches and AKS releases that are on record (W2).
//!
//! Owns `data/kubernetes-patches.csv` (when upstream released each patch, and the date from which
//! AKS's public notes show it) and `data/aks-releases.csv` (the dates of AKS releases). Does not
//! own what comes after the record (`sim::releases`).

use std::sync::LazyLock;

use super::KubernetesVersion;
use crate::time::Timestamp;

/// A patch that AKS has offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patch {
    /// The version.
    pub version: KubernetesVersion,
    /// Upstream's release; `None`: AKS's own long-term-support build.
    pub upstream: Option<Timestamp>,
    /// The date of the release notes that name it first; failing that, of the first node image
    /// that carries it.
    pub on_aks: Timestamp,
}

static PATCHES: LazyLock<Vec<Patch>> = LazyLock::new(|| {
    super::rows(include_str!("../../data/kubernetes-patches.csv")).map(read).collect()
});

static RELEASES: LazyLock<Vec<Timestamp>> =
    LazyLock::new(|| super::rows(include_str!("../../data/aks-releases.csv")).map(day).collect());

fn read(line: &str) -> Patch {
    let fields: Vec<&str> = line.split(',').collect();
    let [version, upstream, on_aks, _] = fields[..] else {
        unreachable!("data/kubernetes-patches.csv has four columns")
    };
    Patch {
        version: version.parse().expect("versions have three numbers"),
        upstream: (!upstream.is_empty()).then(|| day(upstream)),
        on_aks: day(on_aks),
    }
}

fn day(text: &str) -> Timestamp {
    text.parse().expect("days are written as 2025-08-22")
}

/// All patches on record, ascending.
pub fn all() -> &'static [Patch] {
    &PATCHES
}

/// The patch with this version.
pub fn find(version: KubernetesVersion) -> Option<&'static Patch> {
    let found = all().binary_search_by_key(&version, |patch| patch.version).ok()?;
    Some(&all()[found])
}

/// The dates of AKS releases, ascending: the first instants of their days, in UTC.
pub fn aks_releases() -> &'static [Timestamp] {
    &RELEASES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w2_the_record_is_whole_and_sorted() {
        assert_eq!(all().len(), 243);
        assert!(all().is_sorted_by(|a, b| a.version < b.version));
        assert_eq!(aks_releases().len(), 240);
        assert!(aks_releases().is_sorted_by(|a, b| a < b));
        // AKS's own builds have patch numbers from 100 on, and no others do.
        assert!(all().iter().all(|patch| patch.upstream.is_none() == (patch.version.patch >= 100)));
    }

    #[test]
    fn w2_known_patches_have_their_recorded_dates() {
        let found = find("1.34.9".parse().unwrap()).unwrap();
        assert_eq!(found.upstream.unwrap().to_string(), "2026-06-11T00:00:00Z");
        assert_eq!(found.on_aks.to_string(), "2026-07-17T00:00:00Z");
        let carried = find("1.34.1".parse().unwrap()).unwrap();
        assert_eq!(carried.on_aks.to_string(), "2025-09-18T00:00:00Z", "named by no notes");
        assert!(find("1.28.2".parse().unwrap()).is_none());
    }
}
