//! Random numbers that are the same everywhere, for tests over drawn handoffs.

/// Knuth's MMIX generator.
pub struct Lot(pub u64);

impl Lot {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    /// A link of one of these rates, kbit/s, and 2 to 301 ms.
    pub fn link(&mut self, kbps: &[u32]) -> String {
        let rate = kbps[self.below(kbps.len() as u64) as usize];
        format!("{rate}kbit/{}ms", 2 + self.below(300))
    }
}
