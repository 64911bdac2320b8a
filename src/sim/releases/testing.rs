//! What tests of releases compute.

/// Mean and standard deviation.
pub(super) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / values.len() as f64).sqrt())
}

/// Pearson's correlation.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let ((mean_a, sd_a), (mean_b, sd_b)) = (mean_and_sd(&a), mean_and_sd(&b));
    let products = pairs.iter().map(|(a, b)| (a - mean_a) * (b - mean_b));
    products.sum::<f64>() / pairs.len() as f64 / sd_a / sd_b
}
