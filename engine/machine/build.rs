//! Finds the cores and the series: every file in `src/cores` and `src/series`.

use joulemark_found::Folder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cores = Folder {
        path: "src/cores",
        declared: "TARGET",
        list: "static FOUND",
        item: "&crate::Target",
    };
    let series = Folder {
        path: "src/series",
        declared: "SERIES",
        list: "static FOUND",
        item: "&crate::series::Series",
    };
    cores.find()?;
    series.find()
}
