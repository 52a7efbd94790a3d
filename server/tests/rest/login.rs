//! Who is let in (row 41 and 43 of the black-box tests).

use crate::shape::assert_user;
use crate::world::{ADMIN, ALICE, ALICES_KEY, World};
use std::time::Duration;

/// `sesame` with the salt `c19b2d`.
const TOKEN: &str = "26719a1196d2a940705a59634eb18eab";

async fn code(world: &World, credentials: &str) -> i64 {
    world
        .get(&format!("ping?f=json&{credentials}"))
        .await
        .code()
}

#[tokio::test]
async fn every_way_in_works_with_a_hard_password() {
    let world = World::new();
    let upper = TOKEN.to_uppercase();
    for credentials in [
        ALICE,
        "u=alice&p=enc:406126622325 2bC3A9"
            .replace(' ', "")
            .as_str(),
        "u=alice&p=enc:4061266223252BE9",
        "u=admin&p=sesame",
        "u=ADMIN&p=sesame",
        &format!("u=admin&t={TOKEN}&s=c19b2d"),
        &format!("u=admin&t={upper}&s=c19b2d"),
        &format!("apiKey={ALICES_KEY}"),
    ] {
        assert_eq!(code(&world, credentials).await, -1, "{credentials}");
    }
}

#[tokio::test]
async fn each_way_to_fail_has_its_code() {
    let world = World::new();
    for (credentials, expected) in [
        ("", 10),
        ("u=admin", 10),
        ("p=sesame", 10),
        ("u=admin&t=00", 10),
        ("u=admin&s=salt", 10),
        ("u=admin&p=wrong", 40),
        ("u=admin&p=", 40),
        ("u=admin&p=enc:null", 40),
        ("u=nobody&p=sesame", 40),
        ("u=nobody&p=no+user+has+this+one", 40),
        ("u=admin&t=00&s=salt", 40),
        ("u=admin&p=sesame&t=00&s=salt", 40),
        ("u=admin&jwt=abc", 42),
        ("apiKey=zzz", 44),
        ("apiKey=", 10),
        ("u=alice&apiKey=key-of-alice", 43),
        ("apiKey=key-of-alice&p=x", 43),
    ] {
        assert_eq!(code(&world, credentials).await, expected, "{credentials}");
    }
}

#[tokio::test]
async fn guessing_is_held_off_and_let_in_again_later() {
    let world = World::new();
    let guess = "ping?u=admin&p=wrong&f=json";
    let right = "ping?u=admin&p=sesame&f=json";
    for _ in 0..10 {
        assert_eq!(world.get_from([10, 0, 0, 1], guess).await.code(), 40);
    }
    assert_eq!(
        world.get_from([10, 0, 0, 1], right).await.code(),
        40,
        "unheard"
    );
    assert_eq!(
        world.get_from([10, 0, 0, 2], right).await.code(),
        -1,
        "another peer"
    );
    let alice = format!("ping?{ALICE}&f=json");
    assert_eq!(
        world.get_from([10, 0, 0, 1], &alice).await.code(),
        -1,
        "another user"
    );
    world.wait(Duration::from_secs(61));
    assert_eq!(world.get_from([10, 0, 0, 1], right).await.code(), -1);
}

#[tokio::test]
async fn a_user_learns_their_roles_and_folders() {
    let world = World::new();
    let own = world.ask_as(ALICE, "getUser", "username=alice").await;
    assert_user(&own["user"]);
    assert_eq!(own["user"]["username"], "alice");
    assert_eq!(own["user"]["adminRole"], false);
    assert_eq!(own["user"]["streamRole"], true);
    assert_eq!(own["user"]["downloadRole"], true);
    assert_eq!(own["user"]["folder"], serde_json::json!([1, 2]));
    let unnamed = world.ask_as(ALICE, "getUser", "").await;
    assert_eq!(unnamed["user"]["username"], "alice");
    let by_admin = world.ask("getUser", "username=alice").await;
    assert_eq!(by_admin["user"]["username"], "alice");
    assert_eq!(world.code("getUser", "username=nobody").await, 70);
    let denied = world
        .get(&format!("getUser?{ALICE}&f=json&username=admin"))
        .await;
    assert_eq!(denied.code(), 50);
}

#[tokio::test]
async fn only_administrators_see_all_users_and_start_scans() {
    let world = World::new();
    let users = world.ask("getUsers", "").await;
    let users = users["users"]["user"].as_array().expect("a list").clone();
    assert_eq!(users.len(), 2);
    users.iter().for_each(assert_user);
    for endpoint in ["getUsers", "startScan"] {
        let denied = world.get(&format!("{endpoint}?{ALICE}&f=json")).await;
        assert_eq!(denied.code(), 50, "{endpoint}");
    }
}

#[tokio::test]
async fn a_key_says_whose_it_is() {
    let world = World::new();
    let query = format!("apiKey={ALICES_KEY}");
    let info = world.ask_as(&query, "tokenInfo", "").await;
    assert_eq!(info["tokenInfo"]["username"], "alice");
}

#[tokio::test]
async fn no_reply_holds_a_password() {
    let world = World::new();
    for query in [
        format!("getUser?{ADMIN}"),
        format!("getUsers?{ADMIN}"),
        "ping?u=sesame&p=sesame2".to_owned(),
    ] {
        let reply = world.get(&query).await;
        assert!(!reply.body.contains("sesame"), "{}", reply.body);
    }
}
