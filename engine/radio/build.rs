//! Finds the PHYs: every file in `src/phy`.

use joulemark_found::Folder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let phys = Folder {
        path: "src/phy",
        declared: "PHY",
        list: "/// All PHYs, by name.\npub static PHYS",
        item: "&Phy",
    };
    phys.find()
}
