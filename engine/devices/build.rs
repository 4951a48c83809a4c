//! Finds the models: every file in `src/models`, which gives its model its name.

use joulemark_found::Folder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let models = Folder {
        path: "src/models",
        declared: "MODEL",
        list: "/// All models, by name.\npub static MODELS",
        item: "&crate::Model",
    };
    models.find()
}
