//! What upstreams speak, as codecs: requests out, meaning of responses in. No sockets.
