//! The arrows: between members, between the modules of `core`, and to the crates that touch the world.

use crate::house::{after, code, files, names};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Every member, and which members it may depend on.
const MEMBERS: [(&str, &[&str]); 6] = [
    ("segue-core", &[]),
    ("segue-sqlite", &["segue-core"]),
    ("segue-runtime-tokio", &["segue-core", "segue-sqlite"]),
    ("segue-runtime-sim", &["segue-core", "segue-sqlite"]),
    (
        "segue",
        &["segue-core", "segue-sqlite", "segue-runtime-tokio"],
    ),
    (
        "segue-sim-tests",
        &[
            "segue",
            "segue-core",
            "segue-sqlite",
            "segue-runtime-sim",
            "segue-runtime-tokio",
        ],
    ),
];

/// Crates that touch the world, and the only members that may depend on them.
const WORLDLY: [(&str, &[&str]); 9] = [
    ("axum", &["segue", "segue-runtime-sim", "segue-sim-tests"]),
    (
        "hyper",
        &["segue", "segue-runtime-tokio", "segue-runtime-sim"],
    ),
    ("lofty", &["segue-runtime-tokio"]),
    ("madsim", &["segue-runtime-sim", "segue-sim-tests"]),
    ("reqwest", &[]),
    (
        "rusqlite",
        &["segue-sqlite", "segue-runtime-tokio", "segue-runtime-sim"],
    ),
    ("rustls", &["segue-runtime-tokio"]),
    ("socket2", &["segue-runtime-tokio"]),
    (
        "tokio",
        &["segue", "segue-runtime-tokio", "segue-runtime-sim"],
    ),
];

/// What `core` is built from: names and formats of the ecosystem, none of which can do I/O.
const CORE_CRATES: [&str; 20] = [
    "base64",
    "bytes",
    "chardetng",
    "encoding_rs",
    "hex",
    "http",
    "http-body",
    "httpdate",
    "md-5",
    "percent-encoding",
    "quick-xml",
    "saphyr-parser",
    "serde",
    "serde_json",
    "sha2",
    "strsim",
    "thiserror",
    "unicode-normalization",
    "unicode-script",
    "url",
];

/// The modules of `core`, and which of them each may use. What is not listed is not allowed.
/// `twin` is only asked, and may be from everywhere.
const CORE_MODULES: [(&str, &[&str]); 15] = [
    ("time", &[]),
    ("twin", &[]),
    ("webhook", &[]),
    ("io", &["time"]),
    ("breaker", &["time"]),
    ("dispatch", &["breaker", "time"]),
    ("rank", &["catalog"]),
    ("catalog", &["rank", "time"]),
    ("source", &["catalog", "dispatch", "io", "rank", "time"]),
    ("lyrics", &["catalog", "dispatch", "time"]),
    ("delivery", &["dispatch", "io"]),
    (
        "provider",
        &["catalog", "dispatch", "io", "lyrics", "source", "time"],
    ),
    ("queue", &["catalog", "dispatch", "lyrics", "time"]),
    (
        "failover",
        &[
            "breaker", "catalog", "dispatch", "io", "rank", "source", "time",
        ],
    ),
    (
        "driver",
        &[
            "breaker", "catalog", "delivery", "dispatch", "failover", "io", "lyrics", "provider",
            "queue", "rank", "source", "time",
        ],
    ),
];

/// Modules of the server that may name the real world; everything else runs in the simulator too.
const REAL_WORLD: [&str; 8] = [
    "assemble",
    "cli",
    "demo",
    "main",
    "ports",
    "serve",
    "upstream/listen",
    "world",
];

struct Dependency {
    name: String,
    dev: bool,
    features: Vec<String>,
}

fn manifests() -> BTreeMap<String, Vec<Dependency>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(crate::house::root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let word = |value: &Value| value.as_str().expect("a name").to_owned();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("an array");
            let dependencies = dependencies.iter().map(|d| Dependency {
                name: word(&d["name"]),
                dev: d["kind"] == "dev",
                features: d["features"]
                    .as_array()
                    .expect("features")
                    .iter()
                    .map(word)
                    .collect(),
            });
            (word(&package["name"]), dependencies.collect())
        })
        .collect()
}

#[test]
fn members_depend_on_each_other_only_along_the_arrows() {
    let manifests = manifests();
    let law = BTreeMap::from(MEMBERS);
    let known: Vec<_> = law.keys().copied().collect();
    assert_eq!(manifests.keys().collect::<Vec<_>>(), known);
    for (member, dependencies) in &manifests {
        for Dependency { name, .. } in dependencies {
            let is_member = law.contains_key(name.as_str());
            let allowed = law[member.as_str()].contains(&name.as_str());
            assert!(!is_member || allowed, "{member} may not depend on {name}");
        }
    }
}

#[test]
fn only_the_runtimes_and_the_server_touch_the_world() {
    let manifests = manifests();
    for (krate, allowed) in WORLDLY {
        for (member, dependencies) in &manifests {
            let depends = dependencies.iter().any(|d| d.name == krate && !d.dev);
            let allowed = allowed.contains(&member.as_str());
            assert!(!depends || allowed, "{member} may not depend on {krate}");
        }
    }
}

#[test]
fn core_depends_on_nothing_that_can_do_io() {
    for Dependency { name, dev, .. } in &manifests()["segue-core"] {
        let allowed = CORE_CRATES.contains(&name.as_str());
        assert!(*dev || allowed, "core may not depend on {name}");
    }
}

#[test]
fn only_the_tests_of_the_simulator_ask_for_broken_twins() {
    for (member, dependencies) in &manifests() {
        for Dependency {
            name,
            dev,
            features,
        } in dependencies
        {
            let asks = name == "segue-core" && features.iter().any(|f| f == "twins");
            let may = *dev && member == "segue-sim-tests";
            assert!(!asks || may, "{member} asks for deliberate bugs");
        }
    }
}

#[test]
fn core_names_no_clock_no_thread_and_no_place() {
    const BANNED: [&str; 12] = [
        "std::net",
        "std::fs",
        "std::thread",
        "std::process",
        "std::env",
        "Instant",
        "SystemTime",
        "HashMap",
        "HashSet",
        "RandomState",
        "tokio",
        "madsim",
    ];
    for file in files("core/src", ".rs") {
        let code = code(&file);
        for banned in BANNED {
            assert!(!names(&code, banned), "{file} names {banned}");
        }
    }
}

#[test]
fn only_the_driver_waits_and_locks() {
    // `async` in io.rs is the shape of the traits; the atomics there and in the driver carry one flag. The twin
    // that a test has chosen is kept for its thread.
    for file in files("core/src", ".rs") {
        let code = code(&file);
        if !file.starts_with("core/src/driver/") && file != "core/src/twin.rs" {
            for banned in ["await", "Mutex", "RwLock", "RefCell", "Cell"] {
                assert!(!names(&code, banned), "{file} names {banned}");
            }
        }
    }
}

#[test]
fn arrows_inside_core_point_down() {
    let law = BTreeMap::from(CORE_MODULES);
    for file in files("core/src", ".rs") {
        let inside = file.strip_prefix("core/src/").expect("below");
        let place = inside.trim_end_matches(".rs").trim_end_matches("/mod");
        let (module, depth) = (
            place.split('/').next().expect("a name"),
            place.split('/').count(),
        );
        if module == "lib" {
            continue;
        }
        let allowed = law
            .get(module)
            .unwrap_or_else(|| panic!("{module} is not in the law"));
        let code = code(&file);
        let mut used = after(&code, "crate");
        used.extend(after(&code, &vec!["super"; depth].join("::")));
        for other in used {
            let listed = other == module || other == "twin" || allowed.contains(&other.as_str());
            let is_module = law.contains_key(other.as_str());
            assert!(!is_module || listed, "{file} may not use {other}");
        }
    }
}

#[test]
fn the_arrows_of_core_have_no_short_cut_upwards() {
    let law = BTreeMap::from(CORE_MODULES);
    for (module, above) in [
        ("time", &["breaker", "dispatch", "failover", "driver"][..]),
        ("breaker", &["dispatch", "failover", "driver"]),
        ("dispatch", &["failover", "driver"]),
        ("failover", &["driver"]),
        ("catalog", &["driver"]),
        ("rank", &["driver"]),
        ("source", &["failover", "driver"]),
        ("lyrics", &["provider", "driver"]),
        ("provider", &["driver"]),
        ("queue", &["driver"]),
    ] {
        let allowed: BTreeSet<_> = law[module].iter().collect();
        let crossed = above.iter().find(|other| allowed.contains(other));
        assert_eq!(crossed, None, "the law lets {module} look up");
    }
}

#[test]
fn the_hub_names_the_real_world_in_few_places() {
    for file in files("server/src", ".rs") {
        let inside = file.strip_prefix("server/src/").expect("below");
        let place = inside.trim_end_matches(".rs").trim_end_matches("/mod");
        let within = |room: &&str| {
            let rest = place.strip_prefix(*room);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let named = names(&code(&file), "segue_runtime_tokio");
        let allowed = REAL_WORLD.iter().any(within);
        assert!(!named || allowed, "{file} names segue_runtime_tokio");
    }
}

#[test]
fn only_the_runtimes_know_an_http_client_and_a_database() {
    for dir in ["server/src", "sim-tests/src", "core/src"] {
        for file in files(dir, ".rs") {
            let code = code(&file);
            for banned in ["hyper::client", "hyper_util::client", "rusqlite"] {
                assert!(!names(&code, banned), "{file} names {banned}");
            }
        }
    }
    for file in files("runtime-tokio/src", ".rs") {
        let code = code(&file);
        let is_net = file.starts_with("runtime-tokio/src/net/");
        assert!(is_net || !names(&code, "hyper::client"), "{file}");
        assert!(!names(&code, "axum"), "{file} names axum");
    }
}

#[test]
fn the_simulated_world_knows_of_axum_only_its_router() {
    for file in files("runtime-sim/src", ".rs") {
        let used = after(&code(&file), "axum");
        let router = BTreeSet::from(["Router".to_owned()]);
        assert!(used.is_subset(&router), "{file} names {used:?}");
    }
}
