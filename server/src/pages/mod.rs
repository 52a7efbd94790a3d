//! The page at `/`: log in, play something, watch the sources.
//!
//! Three files in the binary, nothing from elsewhere, and a policy that forbids anything else. The page is a client like any
//! other: it asks `/rest` and `/api/v1` with the visitor's own password, which it keeps in memory only.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};

/// Only what this hub serves, no inline code, nowhere framed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; \
                      connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const PAGE: &str = include_str!("index.html");
const STYLE: &str = include_str!("segue.css");
const CODE: &str = include_str!("segue.js");
const DIGEST: &str = include_str!("md5.js");

/// The routes of the page.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(
            "/",
            get(|| async { file(PAGE, "text/html; charset=utf-8") }),
        )
        .route(
            "/segue.css",
            get(|| async { file(STYLE, "text/css; charset=utf-8") }),
        )
        .route(
            "/segue.js",
            get(|| async { file(CODE, "text/javascript; charset=utf-8") }),
        )
        .route(
            "/md5.js",
            get(|| async { file(DIGEST, "text/javascript; charset=utf-8") }),
        )
}

fn file(text: &'static str, content_type: &'static str) -> Response {
    let headers: [(HeaderName, HeaderValue); 5] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(POLICY),
        ),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        // The files change with the binary, and are small.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    async fn get(path: &str) -> (http::response::Parts, String) {
        let request = http::Request::get(path).body(Body::empty()).unwrap();
        let (parts, body) = router::<()>()
            .with_state(())
            .oneshot(request)
            .await
            .unwrap()
            .into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts, String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// The values of `attribute` in the page.
    fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
        let parts = page.split(attribute).skip(1);
        parts
            .filter_map(|rest| rest.strip_prefix("=\"")?.split('"').next())
            .collect()
    }

    #[tokio::test]
    async fn the_page_loads_only_what_it_brings() {
        let (parts, page) = get("/").await;
        assert_eq!(parts.headers["content-security-policy"], POLICY);
        assert_eq!(parts.headers["x-content-type-options"], "nosniff");
        let loaded: Vec<&str> = [values(&page, " src"), values(&page, " href")].concat();
        assert_eq!(loaded, ["/md5.js", "/segue.js", "/segue.css"]);
        for path in loaded {
            assert_eq!(get(path).await.0.status, 200, "{path}");
        }
    }

    #[test]
    fn the_policy_needs_no_exception_and_text_stays_text() {
        for forbidden in ["<style", " style=", " onclick", "<script>"] {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
        for forbidden in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "localStorage",
        ] {
            assert!(!CODE.contains(forbidden), "{forbidden}");
        }
        for file in [PAGE, STYLE, CODE, DIGEST] {
            assert!(!file.contains("://"), "nothing from elsewhere");
        }
    }

    #[test]
    fn every_element_the_code_asks_for_is_on_the_page() {
        let ids = values(PAGE, " id");
        let asked = CODE
            .split("byId(\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        let asked: Vec<&str> = asked.collect();
        assert!(asked.len() > 5);
        for id in asked {
            assert!(ids.contains(&id), "{id}");
        }
    }
}
