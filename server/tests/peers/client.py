"""Drives a hub as the clients do that are built on py-opensonic and py-sonic.

usage: client.py BASE PORT USER PASSWORD TITLE

Both libraries send POST forms by default and parse replies strictly. (py-opensonic 10.4.1 can read no
server's getMusicFolders: it walks the keys of the object; py-sonic is asked instead.) Prints one line a check; exits
with the number of failures.
"""

import sys

import libopensonic
import libsonic

base, port, user, password, title = sys.argv[1:6]
failures = 0


def check(name, question):
    global failures
    try:
        answer = question()
        if answer in (None, False, [], b""):
            raise ValueError(f"empty answer: {answer!r}")
        print(f"ok {name}")
    except Exception as error:  # noqa: BLE001 - every failure is a finding
        failures += 1
        print(f"FAILED {name}: {type(error).__name__}: {error}")


def opensonic(legacy, get):
    name = f"py-opensonic legacy_auth={legacy} use_get={get}"
    hub = libopensonic.Connection(
        base, user, password, port=int(port), legacy_auth=legacy, use_get=get
    )
    song = lambda: next(s for s in hub.search3(title).song if s.title == title)
    album = lambda: hub.get_album(hub.get_album_list2("alphabeticalByName")[0].id)
    check(f"{name} ping", hub.ping)
    check(f"{name} license", hub.get_license)
    check(f"{name} extensions", hub.get_open_subsonic_extensions)
    check(f"{name} artists", hub.get_artists)
    check(f"{name} genres", hub.get_genres)
    check(f"{name} album", lambda: album().song)
    check(f"{name} search", song)
    check(f"{name} song", lambda: hub.get_song(song().id).title == title)
    check(f"{name} random", hub.get_random_songs)
    check(f"{name} star", lambda: hub.star([song().id]))
    check(f"{name} starred", lambda: hub.get_starred2().song)
    check(f"{name} scrobble", lambda: hub.scrobble(song().id))
    check(f"{name} scan", hub.get_scan_status)
    check(f"{name} stream", lambda: hub.stream(song().id).content)
    check(f"{name} download", lambda: hub.download(song().id).content)


def sonic(legacy):
    name = f"py-sonic legacyAuth={legacy}"
    hub = libsonic.Connection(
        base, user, password, port=int(port), serverPath="/rest", legacyAuth=legacy
    )
    songs = lambda: hub.search3(title)["searchResult3"]["song"]
    check(f"{name} ping", hub.ping)
    check(f"{name} artists", lambda: hub.getArtists()["artists"]["index"])
    check(f"{name} folders", lambda: hub.getMusicFolders()["musicFolders"]["musicFolder"])
    check(f"{name} indexes", lambda: hub.getIndexes()["indexes"]["index"])
    check(f"{name} search", songs)
    check(f"{name} scrobble", lambda: hub.scrobble(songs()[0]["id"], submission=False))
    check(f"{name} now playing", lambda: hub.getNowPlaying()["nowPlaying"])
    check(f"{name} stream", lambda: hub.stream(songs()[0]["id"]).read())


for legacy in (False, True):
    for get in (False, True):
        opensonic(legacy, get)
    sonic(legacy)
sys.exit(failures)
