//! The regions of the cloud: their names and their offsets in January.
//!
//! Names and offsets from Microsoft's list of Azure regions and the time zone database.

use crate::calendar::UtcOffset;

/// Every region's programmatic name with its offset from UTC in January, in minutes.
const REGIONS: &[(&str, i16)] = &[
    ("australiacentral", 660),
    ("australiacentral2", 660),
    ("australiaeast", 660),
    ("australiasoutheast", 660),
    ("austriaeast", 60),
    ("belgiumcentral", 60),
    ("brazilsouth", -180),
    ("brazilsoutheast", -180),
    ("canadacentral", -300),
    ("canadaeast", -300),
    ("centralindia", 330),
    ("centralus", -360),
    ("centraluseuap", -360),
    ("chilecentral", -180),
    ("chinaeast2", 480),
    ("chinaeast3", 480),
    ("chinanorth2", 480),
    ("chinanorth3", 480),
    ("denmarkeast", 60),
    ("eastasia", 480),
    ("eastus", -300),
    ("eastus2", -300),
    ("eastus2euap", -300),
    ("eastus3", -300),
    ("francecentral", 60),
    ("francesouth", 60),
    ("germanynorth", 60),
    ("germanywestcentral", 60),
    ("indiasouthcentral", 330),
    ("indonesiacentral", 420),
    ("israelcentral", 120),
    ("israelnorthwest", 120),
    ("italynorth", 60),
    ("japaneast", 540),
    ("japanwest", 540),
    ("jioindiacentral", 330),
    ("jioindiawest", 330),
    ("koreacentral", 540),
    ("koreasouth", 540),
    ("malaysiasouth", 480),
    ("malaysiawest", 480),
    ("mexicocentral", -360),
    ("newzealandnorth", 780),
    ("northcentralus", -360),
    ("northeastus5", -300),
    ("northeurope", 0),
    ("norwayeast", 60),
    ("norwaywest", 60),
    ("polandcentral", 60),
    ("qatarcentral", 180),
    ("southafricanorth", 120),
    ("southafricawest", 120),
    ("southcentralus", -360),
    ("southcentralus2", -360),
    ("southeastasia", 480),
    ("southeastus", -300),
    ("southeastus3", -300),
    ("southeastus5", -300),
    ("southindia", 330),
    ("southwestus", -480),
    ("spaincentral", 60),
    ("swedencentral", 60),
    ("swedensouth", 60),
    ("switzerlandnorth", 60),
    ("switzerlandwest", 60),
    ("taiwannorth", 480),
    ("taiwannorthwest", 480),
    ("uaecentral", 240),
    ("uaenorth", 240),
    ("uksouth", 0),
    ("ukwest", 0),
    ("usgovarizona", -420),
    ("usgovtexas", -360),
    ("usgovvirginia", -300),
    ("westcentralus", -420),
    ("westeurope", 60),
    ("westus", -480),
    ("westus2", -480),
    ("westus3", -420),
];

/// Whether the cloud has a region of this name.
pub(super) fn is_known(name: &str) -> bool {
    january_offset(name).is_some()
}

/// The region's offset from UTC in January (`utcOffset: region`).
pub(super) fn january_offset(name: &str) -> Option<UtcOffset> {
    let at = REGIONS.binary_search_by_key(&name, |(region, _)| region).ok()?;
    Some(UtcOffset(REGIONS[at].1))
}

/// The names of all regions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    REGIONS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_is_found_by_its_name() {
        assert!(names().all(is_known));
        assert!(!is_known("moon"));
        assert_eq!(january_offset("westeurope"), Some(UtcOffset(60)));
        assert_eq!(january_offset("centralindia"), Some(UtcOffset(330)));
        assert_eq!(january_offset("eastus"), Some(UtcOffset(-300)));
    }
}
