//! Which members a model of the world is about.

use crate::fleet::{Member, OsType, Selector};
use crate::ids::RegionId;

/// Members by label, region and operating system; what is absent chooses everybody.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Whom {
    /// `byLabel`: a label selector.
    pub by_label: Option<Selector>,
    /// `region`: one of these.
    pub regions: Option<Vec<RegionId>>,
    /// `osType`: members with a pool of it.
    pub os_type: Option<OsType>,
}

impl Whom {
    /// Whether a member is one of them.
    pub fn fits(&self, member: &Member) -> bool {
        self.by_label.as_ref().is_none_or(|selector| selector.matches(&member.labels))
            && self.regions.as_ref().is_none_or(|regions| regions.contains(&member.region))
            && self.os_type.is_none_or(|os| member.pools.iter().any(|pool| pool.os_type == os))
    }
}
