//! `segue lyrics work`: more workers, in a process of their own.

use super::data::has_library;
use super::failure::Failure;
use super::{WorkArgs, shutdown};
use crate::assemble::{Setup, assemble_beside, run_beside};

pub(super) async fn work(args: WorkArgs) -> Result<(), Failure> {
    let config = args.common.load(None)?.config;
    let data_dir = config.server.data_dir.clone();
    if !has_library(&data_dir) {
        return Err(Failure::new(format!(
            "there is no library in {}; `segue serve` or `segue sync` begins one",
            data_dir.display()
        )));
    }
    let shutdown = shutdown()?;
    let hub = assemble_beside(Setup {
        data_dir: data_dir.clone(),
        sources: config.source_specs()?,
        settings: config.settings(false),
    })
    .await?;
    let workers = args.workers.unwrap_or(config.queue.workers);
    println!(
        "Segue {} looks up the songs of {}, {workers} at once",
        env!("CARGO_PKG_VERSION"),
        data_dir.display()
    );
    run_beside(hub, workers, shutdown).await;
    Ok(())
}
