//! Versions: of node images and of Kubernetes, compared number by number (R-I2).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::ids::FamilyId;

/// The version part of a node image's name (after its last hyphen): up to three numbers, each at
/// most 1,048,574, such as `202603.02.0` or `20348.4648.260112`. Ordered number by number (R-I2).
///
/// The numbers lie in one word, 20 bits each and counted from 1, so that a missing number sorts
/// before zero. The lowest bits keep which numbers were written with two digits (`02`), for
/// printing only: they take no part in comparisons.
#[derive(Debug, Clone, Copy)]
pub struct ImageVersion(u64);

impl ImageVersion {
    /// Before every version: what a pool runs of which nothing is known.
    pub const OLDEST: Self = Self(0);

    const LARGEST: u64 = (1 << 20) - 2;

    /// The version of an image built on this day: `YYYYMM.DD.0`.
    pub fn of_build_day(year: i16, month: i8, day: i8) -> Self {
        format!("{year:04}{month:02}.{day:02}.0").parse().expect("a date has three small numbers")
    }

    /// A number of its own for every version; versions that are equal share theirs.
    pub const fn key(self) -> u64 {
        self.0 >> 4
    }

    /// A number of its own for every way of writing a version.
    pub const fn as_written(self) -> u64 {
        self.0
    }

    fn numbers(self) -> impl Iterator<Item = (u64, bool)> {
        let word = self.0;
        [(44, false), (24, word & 1 != 0), (4, word & 2 != 0)]
            .into_iter()
            .map(move |(shift, padded)| ((word >> shift) & ((1 << 20) - 1), padded))
            .take_while(|(number, _)| *number > 0)
            .map(|(number, padded)| (number - 1, padded))
    }
}

impl PartialEq for ImageVersion {
    fn eq(&self, other: &Self) -> bool {
        self.0 >> 4 == other.0 >> 4
    }
}

impl Eq for ImageVersion {}

impl Ord for ImageVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 >> 4).cmp(&(other.0 >> 4))
    }
}

impl PartialOrd for ImageVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::hash::Hash for ImageVersion {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0 >> 4).hash(state);
    }
}

impl fmt::Display for ImageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (number, padded)) in self.numbers().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            if padded { write!(f, "{number:02}") } else { write!(f, "{number}") }?;
        }
        Ok(())
    }
}

impl FromStr for ImageVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an image version; it looks like 202603.02.0");
        let mut word = 0_u64;
        let mut shifts = [(44, 0), (24, 1), (4, 2)].into_iter();
        for part in text.split('.') {
            let (shift, padded) = shifts.next().ok_or_else(wrong)?;
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong());
            }
            let number: u64 = part.parse().map_err(|_| wrong())?;
            if number > Self::LARGEST {
                return Err(wrong());
            }
            word |= (number + 1) << shift;
            if part.len() == 2 && part.starts_with('0') {
                word |= padded;
            }
        }
        Ok(Self(word))
    }
}

/// A node image: a family and a version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeImage {
    /// The family: the image's name up to its last hyphen (R-I2).
    pub family: FamilyId,
    /// The version: the rest.
    pub version: ImageVersion,
}

/// A security patch of Linux nodes, by its day: the last part of a node image's label, such as
/// `2024.12.01`. Later ones contain earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityPatch(ImageVersion);

impl SecurityPatch {
    /// The patch of the day that an image version is named after.
    pub const fn of_day(version: ImageVersion) -> Self {
        Self(version)
    }

    /// The version of an image that was built on its day: such an image, and every later one,
    /// contains the patch (ours).
    pub const fn image(self) -> ImageVersion {
        self.0
    }
}

impl fmt::Display for SecurityPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.0.numbers().map(|(number, _)| number);
        let (month, day) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        write!(f, "{:04}.{:02}.{day:02}", month / 100, month % 100)
    }
}

impl FromStr for SecurityPatch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a security patch; it is a day, such as 2024.12.01");
        let parts: Vec<&str> = text.split('.').collect();
        let [year, month, day] = parts[..] else { return Err(wrong()) };
        let number = |part: &str, low: u16, high: u16| {
            let digits = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
            let number: Option<u16> = part.parse().ok().filter(|_| digits);
            number.filter(|number| (low..=high).contains(number)).ok_or_else(wrong)
        };
        let (year, month, day) =
            (number(year, 2_000, 2_199)?, number(month, 1, 12)?, number(day, 1, 31)?);
        let version = format!("{year:04}{month:02}.{day:02}.0");
        version.parse().map(Self)
    }
}

/// A Kubernetes version `major.minor.patch`, ordered number by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the parts name themselves")]
pub struct KubernetesVersion {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for KubernetesVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a Kubernetes version; write it as 1.33.3");
        let parts: Vec<u16> = text
            .split('.')
            .map(|part| {
                let digits = part.bytes().all(|byte| byte.is_ascii_digit());
                part.parse().ok().filter(|_| digits).ok_or_else(wrong)
            })
            .collect::<Result<_, _>>()?;
        match parts[..] {
            [major, minor, patch] => Ok(Self { major, minor, patch }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_i2_image_versions_compare_number_by_number() {
        let version = |text: &str| text.parse::<ImageVersion>().unwrap();
        for text in ["202603.02.0", "20348.4648.260112", "2024.12.01", "202511.07"] {
            assert_eq!(version(text).to_string(), text);
        }
        assert!(version("202602.13.0") < version("202602.13.5"));
        assert!(version("202602.9.0") < version("202602.13.0"));
        assert!(version("202602.13") < version("202602.13.0"));
        assert_eq!(version("202602.2.0"), version("202602.02.0"));
        for wrong in ["", "1.2.3.4", "1..2", "x", "99999999", "+1"] {
            assert!(wrong.parse::<ImageVersion>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a2_security_patches_are_days_and_compare_with_images() {
        let patch = |text: &str| text.parse::<SecurityPatch>().unwrap();
        assert_eq!(patch("2024.12.01").to_string(), "2024.12.01");
        assert!(patch("2024.12.01") < patch("2025.01.01"));
        let image = |text: &str| text.parse::<ImageVersion>().unwrap();
        assert!(patch("2024.12.01").image() > image("202411.30.9"));
        assert!(patch("2024.12.01").image() <= image("202412.01.0"));
        assert_eq!(patch("2024.12.01"), SecurityPatch::of_day(image("202412.01.0")));
        for wrong in ["2024.12", "2024.13.01", "2024.12.32", "24.12.01", "2024-12-01", "", "a.b.c"]
        {
            assert!(wrong.parse::<SecurityPatch>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn kubernetes_versions_compare_number_by_number() {
        let version = |text: &str| text.parse::<KubernetesVersion>().unwrap();
        assert!(version("1.33.10") > version("1.33.9"));
        assert!("1.33".parse::<KubernetesVersion>().is_err());
        assert!("1.+3.1".parse::<KubernetesVersion>().is_err());
    }
}
