//! Lines of spoken words in, written lines out; with `--time REPEATS` microseconds of CPU time a line instead, the best
//! of the repeats after one to warm up.

use std::io::Read;

use cpu_time::ProcessTime;

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("--time") {
        let repeats: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(3);
        let mut best = f64::INFINITY;
        for run in 0..=repeats {
            let began = ProcessTime::now();
            for line in &lines {
                std::hint::black_box(text_processing_rs::normalize_sentence(line));
            }
            if run > 0 {
                best = best.min(began.elapsed().as_secs_f64());
            }
        }
        println!("{:.1}", 1e6 * best / lines.len() as f64);
    } else {
        for line in lines {
            println!("{}", text_processing_rs::normalize_sentence(line).replace('\n', " "));
        }
    }
}
