//! Sweeps: every combination of the values that are tried for some keys of a scenario, each on the
//! same luck. A point is a scenario of its own; this module only says which there are.

use crate::scenario::vary::{Edit, Variation};

/// The most points of a grid.
pub const MOST_POINTS: usize = 10_000;

/// All combinations, the first variation changing slowest.
///
/// # Errors
/// If a path is varied twice, or there are more than [`MOST_POINTS`].
pub fn grid(variations: &[Variation]) -> Result<Vec<Vec<Edit>>, String> {
    for (position, variation) in variations.iter().enumerate() {
        let path = &variation.path;
        if variations[..position].iter().any(|other| other.path == *path) {
            return Err(format!("`{path}` is varied twice; list all its values in one --vary"));
        }
    }
    let sizes = variations.iter().map(|variation| variation.values.len());
    let size = sizes.fold(1_usize, usize::saturating_mul);
    if size > MOST_POINTS {
        return Err(format!("the grid has {size} points, more than {MOST_POINTS}"));
    }
    let mut points: Vec<Vec<Edit>> = vec![Vec::new()];
    for Variation { path, values } in variations {
        let extended = |point: &Vec<Edit>, value: &String| {
            let mut point = point.clone();
            point.push(Edit { path: path.clone(), value: value.clone() });
            point
        };
        points = points
            .iter()
            .flat_map(|point| values.iter().map(move |value| extended(point, value)))
            .collect();
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variations(texts: &[&str]) -> Vec<Variation> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_grid_has_every_combination_the_first_changing_slowest() {
        let points = grid(&variations(&["a=1,2", "b=x,y,z"])).unwrap();
        let shown: Vec<String> = points
            .iter()
            .map(|point| point.iter().map(|edit| edit.value.as_str()).collect())
            .collect();
        assert_eq!(shown, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(grid(&[]).unwrap(), [vec![]]);
    }

    #[test]
    fn a_grid_is_refused_when_it_is_too_large_or_ambiguous() {
        let why = grid(&variations(&["a=1,2", "a=3"])).unwrap_err();
        assert!(why.contains("`a` is varied twice"), "{why}");
        let why = grid(&variations(&["a=0..1/999", "b=0..1/10"])).unwrap_err();
        assert!(why.contains("11000 points"), "{why}");
    }
}
