//! What is around every reply: envelope, formats, methods, CORS (rows S1 to S10).

use crate::world::{ADMIN, Reply, World};
use crate::xml::{assert_same, parse};
use axum::body::Body;
use http::{Method, Request, StatusCode};

fn assert_cors(reply: &Reply) {
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    let exposed = reply.header("access-control-expose-headers");
    for name in ["Content-Range", "Accept-Ranges", "Content-Length", "ETag"] {
        assert!(exposed.contains(name), "{exposed}");
    }
}

#[tokio::test]
async fn xml_is_the_default_and_carries_who_we_are() {
    let world = World::new();
    let reply = world.get(&format!("ping?{ADMIN}")).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), "text/xml; charset=utf-8");
    let root = parse(&reply.body);
    assert_eq!(root.name, "subsonic-response");
    for (name, value) in [
        ("xmlns", "http://subsonic.org/restapi"),
        ("status", "ok"),
        ("version", "1.16.1"),
        ("type", "segue"),
        ("serverVersion", env!("CARGO_PKG_VERSION")),
        ("openSubsonic", "true"),
    ] {
        assert_eq!(root.attributes[name], value, "{name}");
    }
}

#[tokio::test]
async fn json_and_jsonp_on_demand() {
    let world = World::new();
    let json = world.get(&format!("ping?{ADMIN}&f=json")).await;
    assert_eq!(json.header("content-type"), "application/json");
    let jsonp = world
        .get(&format!("ping?{ADMIN}&f=jsonp&callback=my.cb_1"))
        .await;
    assert_eq!(jsonp.header("content-type"), "application/javascript");
    assert_eq!(jsonp.body, format!("my.cb_1({});", json.body));
    for bad in ["", "&callback=alert(1)", "&callback="] {
        let reply = world.get(&format!("ping?{ADMIN}&f=jsonp{bad}")).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.envelope()["status"], "failed", "{bad}");
        assert!(!reply.body.contains("alert"));
    }
}

#[tokio::test]
async fn failures_are_envelopes_with_everything_in_them_on_binary_endpoints_too() {
    let world = World::new();
    for endpoint in ["ping", "stream", "download", "getCoverArt", "noSuchThing"] {
        let xml = world.get(&format!("{endpoint}?u=test&p=test&id=1")).await;
        let json = world
            .get(&format!("{endpoint}?u=test&p=test&id=1&f=json"))
            .await;
        assert_eq!(xml.status, StatusCode::OK, "{endpoint}");
        assert_eq!(xml.header("content-type"), "text/xml; charset=utf-8");
        assert_same(&xml.body, &json.body);
        let envelope = json.envelope();
        assert_eq!(envelope["status"], "failed");
        assert_eq!(envelope["type"], "segue");
        assert_eq!(envelope["openSubsonic"], true);
        assert!(envelope["serverVersion"].is_string());
        assert!(envelope["error"]["code"].is_u64());
        assert!(envelope["error"]["message"].is_string());
        assert_cors(&xml);
        assert_cors(&json);
    }
}

#[tokio::test]
async fn an_unknown_endpoint_does_not_repeat_the_url() {
    let world = World::new();
    for path in [
        "getSecretPlans",
        "a/b/c",
        "ping/",
        "%2e%2e/ping",
        "<script>",
    ] {
        let path = path.replace('<', "%3C").replace('>', "%3E");
        let reply = world.get(&format!("{path}?u=admin&p=sesame&f=json")).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        assert_eq!(reply.code(), 0, "{path}");
        for secret in ["sesame", "admin", "SecretPlans", "script"] {
            assert!(!reply.body.contains(secret), "{}", reply.body);
        }
    }
}

#[tokio::test]
async fn view_and_forms_and_mixtures_of_query_and_form() {
    let world = World::new();
    let view = world.get(&format!("ping.view?{ADMIN}&f=json")).await;
    assert_eq!(view.code(), -1);
    let form = world.post("ping.view", format!("{ADMIN}&f=json")).await;
    assert_eq!(form.code(), -1);
    let mixed = world.post("ping?f=json&u=admin", "p=sesame".into()).await;
    assert_eq!(mixed.code(), -1);
    let untyped = Request::post("/rest/ping")
        .body(Body::from(format!("{ADMIN}&f=json")))
        .expect("a request");
    assert_eq!(world.send(untyped).await.code(), -1);
    let other_type = Request::post(format!("/rest/ping?{ADMIN}&f=json"))
        .header("content-type", "application/json")
        .body(Body::from("{\"u\":\"nobody\"}"))
        .expect("a request");
    assert_eq!(world.send(other_type).await.code(), -1);
}

#[tokio::test]
async fn long_forms_are_read_and_endless_ones_refused() {
    let world = World::new();
    let ids: String = (0..3000).map(|i| format!("&id=tr-{i:032}")).collect();
    let reply = world.post("unstar", format!("{ADMIN}&f=json{ids}")).await;
    assert_eq!(reply.code(), -1);
    let endless = format!("{ADMIN}&x={}", "x".repeat(8 * 1024 * 1024));
    let reply = world.post("ping?f=json", endless).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.code(), 0);
}

#[tokio::test]
async fn head_is_a_get_without_a_body() {
    let world = World::new();
    let request = Request::head(format!("/rest/ping?{ADMIN}"))
        .body(Body::empty())
        .expect("a request");
    let reply = world.send(request).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), "text/xml; charset=utf-8");
    assert_eq!(reply.body, "");
}

#[tokio::test]
async fn a_preflight_is_answered_without_credentials() {
    let world = World::new();
    for path in ["ping", "stream", "anything"] {
        let request = Request::options(format!("/rest/{path}"))
            .header("origin", "https://player.example")
            .header("access-control-request-headers", "range")
            .body(Body::empty())
            .expect("a request");
        let reply = world.send(request).await;
        assert_eq!(reply.status, StatusCode::NO_CONTENT);
        assert!(
            reply
                .header("access-control-allow-headers")
                .contains("Range")
        );
        assert!(
            reply
                .header("access-control-allow-methods")
                .contains("POST")
        );
        assert!(
            reply
                .headers
                .get("access-control-allow-credentials")
                .is_none()
        );
        assert_cors(&reply);
    }
}

#[tokio::test]
async fn other_methods_get_an_envelope() {
    let world = World::new();
    for method in [Method::PUT, Method::DELETE, Method::PATCH] {
        let request = Request::builder()
            .method(method)
            .uri(format!("/rest/ping?{ADMIN}&f=json"))
            .body(Body::empty())
            .expect("a request");
        let reply = world.send(request).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.code(), 0);
    }
}

#[tokio::test]
async fn extensions_are_public_and_need_no_parameter_at_all() {
    let world = World::new();
    let reply = world.get("getOpenSubsonicExtensions").await;
    let root = parse(&reply.body);
    assert_eq!(root.attributes["status"], "ok");
    let form_post = root
        .children
        .iter()
        .find(|c| c.attributes["name"] == "formPost")
        .expect("formPost");
    assert_eq!(form_post.name, "openSubsonicExtensions");
    assert_eq!(form_post.children[0].text, "1");
    let json = world
        .get("getOpenSubsonicExtensions.view?f=json")
        .await
        .envelope();
    let names: Vec<_> = json["openSubsonicExtensions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|e| e["name"].as_str().expect("a name"))
        .collect();
    assert!(names.contains(&"apiKeyAuthentication"));
    assert!(!names.contains(&"transcodeOffset"), "only where it works");
    let lyrics = json["openSubsonicExtensions"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|e| e["name"] == "songLyrics")
        .expect("is honoured");
    assert_eq!(lyrics["versions"], serde_json::json!([1, 2]));
}

#[tokio::test]
async fn versions_of_the_client() {
    let world = World::new();
    for (v, code) in [
        ("1.16.1", -1),
        ("1.0.0", -1),
        ("1.99.9", -1),
        ("nonsense", -1),
        ("0.9", 20),
        ("2.0.0", 30),
    ] {
        let reply = world
            .get(&format!("ping?u=admin&p=sesame&f=json&v={v}"))
            .await;
        assert_eq!(reply.code(), code, "{v}");
    }
}

#[tokio::test]
async fn bad_parameters_are_error_0_or_10_and_never_an_http_error() {
    let world = World::new();
    for (endpoint, query, code) in [
        ("getAlbumList2", "type=newest&size=abc", 0),
        ("getAlbumList2", "type=newest&offset=1.5", 0),
        ("getAlbumList2", "type=sideways", 0),
        ("getAlbumList2", "", 10),
        ("getAlbumList2", "type=byYear", 10),
        ("getAlbumList2", "type=byYear&fromYear=x&toYear=2", 0),
        ("getAlbumList2", "type=byGenre", 10),
        ("getAlbumList2", "type=newest&type=newest", -1),
        ("getAlbumList2", "type=newest&size=-1&offset=-9", -1),
        ("getAlbumList2", "type=newest&size=99999999999999999999", -1),
        ("getAlbumList2", "type=newest&musicFolderId=banana", -1),
        ("getRandomSongs", "size=ten", 0),
        ("getRandomSongs", "fromYear=x", 0),
        ("getSongsByGenre", "", 10),
        ("search3", "", 10),
        ("search3", "query=x&songCount=many", 0),
        ("getArtist", "", 10),
        ("getArtist", "id=", 10),
        ("getArtist", "id=nothing", 70),
        ("getAlbum", "id=nothing", 70),
        ("getAlbum", "id=nothing&id=nobody", 70),
        ("getSong", "id=%00%FF", 70),
        ("getSong", "id='%3B--", 70),
        ("getMusicDirectory", "id=999", 70),
        ("getMusicDirectory", "id=-99999999999999999999", 70),
        ("getIndexes", "ifModifiedSince=yesterday", 0),
        ("scrobble", "", 10),
        ("scrobble", "id=nothing", 70),
        ("scrobble", "id=tr-human&time=now", 0),
        ("scrobble", "id=tr-human&submission=maybe", 0),
        ("star", "", 10),
        ("star", "id=nothing", 70),
        ("unstar", "id=nothing", -1),
        ("setRating", "id=tr-human", 10),
        ("setRating", "rating=3", 10),
        ("setRating", "id=tr-human&rating=6", 0),
        ("setRating", "id=tr-human&rating=-1", 0),
        ("setRating", "id=nothing&rating=3", 70),
        ("getPlaylist", "id=1", 70),
        ("getLyricsBySongId", "", 10),
        ("getLyricsBySongId", "id=nothing", 70),
    ] {
        assert_eq!(
            world.code(endpoint, query).await,
            code,
            "{endpoint}?{query}"
        );
    }
}

#[tokio::test]
async fn what_we_do_not_keep_is_empty_and_ok() {
    let world = World::new();
    for (endpoint, container, list) in [
        ("getPlaylists", "playlists", "playlist"),
        ("getBookmarks", "bookmarks", "bookmark"),
        (
            "getInternetRadioStations",
            "internetRadioStations",
            "internetRadioStation",
        ),
        ("getPodcasts", "podcasts", "channel"),
        ("getNewestPodcasts", "newestPodcasts", "episode"),
        ("getShares", "shares", "share"),
        ("getVideos", "videos", "video"),
        ("getChatMessages", "chatMessages", "chatMessage"),
        ("getNowPlaying", "nowPlaying", "entry"),
    ] {
        let payload = world.ask(endpoint, "").await;
        assert_eq!(
            payload[container][list],
            serde_json::json!([]),
            "{endpoint}"
        );
    }
    assert_eq!(world.ask("getLicense", "").await["license"]["valid"], true);
    assert!(world.ask("getLyrics", "artist=a&title=b").await["lyrics"].is_object());
    let lyrics = world.ask("getLyricsBySongId", "id=tr-human").await;
    assert_eq!(
        lyrics["lyricsList"]["structuredLyrics"],
        serde_json::json!([])
    );
    world.ask("getPlayQueue", "").await;
}
