//! Everything that a run may differ in from another one of the same event.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::line;

pub fn all() {
    let start = Instant::now();
    line(&format!(
        "wall {:?}",
        SystemTime::now().duration_since(UNIX_EPOCH)
    ));
    line(&format!("at once {:?}", start.elapsed()));
    std::thread::sleep(Duration::from_millis(1500));
    line(&format!("after 1.5 s {:?}", start.elapsed()));
    line(&format!(
        "wall {:?}",
        SystemTime::now().duration_since(UNIX_EPOCH)
    ));
    line(&format!("random {:?}", crate::exhaust::random(24)));
    let map: HashMap<u32, ()> = (0..24).map(|number| (number, ())).collect();
    line(&format!("order {:?}", map.into_keys().collect::<Vec<_>>()));
    let nan = black_box(0.0_f64) / black_box(0.0_f64);
    line(&format!("nan {:x}", nan.to_bits()));
    line(&format!("stack {:p}", &start));
}
