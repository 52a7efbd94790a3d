//! `segue user`.

use super::data::{Claim, People};
use super::failure::Failure;
use super::{Common, UserCommand, prompt, show};
use segue_core::Wall;
use segue_core::io::Clock;
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::secrets;
use segue_sqlite::UserRow;
use serde_json::json;
use sha2::{Digest, Sha256};

pub(super) async fn run(command: UserCommand) -> Result<(), Failure> {
    match command {
        UserCommand::Add {
            name,
            admin,
            common,
        } => add(&name, admin, &common).await,
        UserCommand::List { json, common } => list(json, &common).await,
        UserCommand::Passwd { name, common } => passwd(&name, &common).await,
        UserCommand::Key {
            name,
            label,
            common,
        } => key(&name, label, &common).await,
        UserCommand::Remove { name, yes, common } => remove(&name, yes, &common).await,
    }
}

fn people(common: &Common) -> Result<People, Failure> {
    People::open(&common.load(None)?.config.server.data_dir)
}

fn now() -> Wall {
    TokioClock::new().wall()
}

/// Names that every way to log in can carry.
pub(crate) fn check_name(name: &str) -> Result<(), Failure> {
    let what = match name {
        "" => "is empty",
        name if name.len() > 64 => "is longer than 64 bytes",
        name if name.contains(':') => "holds a colon, which Basic authentication cannot carry",
        name if name.chars().any(char::is_control) => "holds a control character",
        name if name.trim() != name => "begins or ends with a space",
        _ => return Ok(()),
    };
    Err(Failure::new(format!("the name {what}")))
}

async fn add(name: &str, admin: bool, common: &Common) -> Result<(), Failure> {
    check_name(name)?;
    let people = people(common)?;
    let wanted = name.to_owned();
    if people.read(move |r| r.user(&wanted)).await?.is_some() {
        return Err(Failure::new(format!("there is already a user `{name}`")));
    }
    let user = people.sealed(name, &prompt::new_password(name)?, admin)?;
    people.write(move |w| w.add_user(&user, now())).await?;
    people.close().await;
    println!(
        "Added {} `{name}`.",
        if admin { "administrator" } else { "user" }
    );
    Ok(())
}

async fn list(json: bool, common: &Common) -> Result<(), Failure> {
    let people = people(common)?;
    let users = people.read(|r| {
        let users = r.users()?;
        let keys = users
            .iter()
            .map(|user| r.api_keys(user.id).map(|keys| keys.len()));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        Ok(users.into_iter().zip(keys).collect::<Vec<_>>())
    });
    let users = users.await?;
    people.close().await;
    if json {
        let users = users.iter().map(|(user, keys)| {
            json!({ "name": user.name, "admin": user.is_admin, "created": user.created.to_string(), "api_keys": keys })
        });
        return show::json(&users.collect::<Vec<_>>());
    }
    if users.is_empty() {
        println!("There are no users yet. `segue user add NAME --admin` makes the first.");
        return Ok(());
    }
    let mut rows = vec![
        ["NAME", "ADMIN", "API KEYS", "SINCE"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(users.iter().map(|(user, keys)| {
        let admin = if user.is_admin { "yes" } else { "no" };
        let since = user.created.to_string().chars().take(10).collect();
        vec![user.name.clone(), admin.to_owned(), keys.to_string(), since]
    }));
    show::table(&rows);
    Ok(())
}

async fn find(people: &People, name: &str) -> Result<UserRow, Failure> {
    let wanted = name.to_owned();
    let user = people.read(move |r| r.user(&wanted)).await?;
    user.ok_or_else(|| {
        Failure::new(format!(
            "there is no user `{name}`; `segue user list` shows who there is"
        ))
    })
}

async fn passwd(name: &str, common: &Common) -> Result<(), Failure> {
    let people = people(common)?;
    let user = find(&people, name).await?;
    let sealed = people.seal(&prompt::new_password(&user.name)?)?;
    people
        .write(move |w| w.set_password(user.id, &sealed))
        .await?;
    people.close().await;
    println!("The password of `{}` is changed.", user.name);
    Ok(())
}

async fn key(name: &str, label: String, common: &Common) -> Result<(), Failure> {
    let people = people(common)?;
    let user = find(&people, name).await?;
    let key = secrets::random_token()?;
    let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    people
        .write(move |w| w.add_api_key(user.id, &hash, &label, now()))
        .await?;
    people.close().await;
    eprintln!("An API key of `{}`. It is not shown again:", user.name);
    println!("{key}");
    Ok(())
}

async fn remove(name: &str, yes: bool, common: &Common) -> Result<(), Failure> {
    let people = people(common)?;
    let user = find(&people, name).await?;
    let question = format!("Remove `{}` with all stars, plays and keys?", user.name);
    if !yes && !prompt::agrees(&question)? {
        println!("Nothing was removed.");
        return Ok(());
    }
    people.write(move |w| w.remove_user(user.id)).await?;
    people.close().await;
    println!("Removed `{}`.", user.name);
    Ok(())
}

/// The first administrator of a new data directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FirstAdmin {
    pub(crate) name: String,
    /// Set when it was made up, and so must be shown.
    pub(crate) password: Option<String>,
}

/// Makes an administrator when there is none, of `SEGUE_ADMIN_USER` and `SEGUE_ADMIN_PASSWORD` where they are set.
/// The caller must hold the claim.
pub(crate) async fn first_admin(
    dir: &std::path::Path,
    _claim: &Claim,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Option<FirstAdmin>, Failure> {
    let people = People::open(dir)?;
    if people
        .read(|r| r.users())
        .await?
        .iter()
        .any(|user| user.is_admin)
    {
        people.close().await;
        return Ok(None);
    }
    let set = |name: &str| environment(name).filter(|value| !value.is_empty());
    let name = set("SEGUE_ADMIN_USER").unwrap_or_else(|| "admin".to_owned());
    check_name(&name)?;
    let given = set("SEGUE_ADMIN_PASSWORD");
    let password = match &given {
        Some(password) => password.clone(),
        None => secrets::random_password()?,
    };
    let user = people.sealed(&name, &password, true)?;
    // A user of that name may be there without being an administrator: it becomes one, with this password.
    let made = people.write(move |w| match w.reader().user(&user.name)? {
        Some(there) => {
            w.set_password(there.id, &user.password_enc)?;
            w.set_admin(there.id, true)
        }
        None => w.add_user(&user, now()).map(|_| true),
    });
    made.await?;
    people.close().await;
    let password = given.is_none().then_some(password);
    Ok(Some(FirstAdmin { name, password }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_admin_is_made_once_and_shown_once() {
        let dir = tempfile::tempdir().unwrap();
        let claim = Claim::take(dir.path()).unwrap().unwrap();
        let made = first_admin(dir.path(), &claim, |_| None)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(made.name, "admin");
        assert_eq!(made.password.map(|password| password.len()), Some(20));
        assert_eq!(first_admin(dir.path(), &claim, |_| None).await, Ok(None));
    }

    #[tokio::test]
    async fn the_environment_names_the_first_admin_and_nobody_after() {
        let dir = tempfile::tempdir().unwrap();
        let claim = Claim::take(dir.path()).unwrap().unwrap();
        let environment = |name: &str| match name {
            "SEGUE_ADMIN_USER" => Some("ann".to_owned()),
            "SEGUE_ADMIN_PASSWORD" => Some("sesame".to_owned()),
            _ => None,
        };
        let made = first_admin(dir.path(), &claim, environment).await;
        let ann = FirstAdmin {
            name: "ann".to_owned(),
            password: None,
        };
        assert_eq!(made, Ok(Some(ann)));
        assert_eq!(first_admin(dir.path(), &claim, environment).await, Ok(None));
    }

    #[test]
    fn names_that_cannot_log_in_are_refused() {
        for name in ["", "a:b", "a\nb", " a", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert_eq!(check_name("Ann Björk"), Ok(()));
    }
}
