//! Questions to whoever sits at the terminal.

use super::failure::Failure;
use std::io::{BufRead, IsTerminal, Write};

/// A password that exists already: from the terminal without echo, or the first line of standard input.
pub(crate) fn password(whose: &str) -> Result<String, Failure> {
    let password = match std::io::stdin().is_terminal() {
        true => rpassword::prompt_password(format!("Password of {whose}: "))?,
        false => line()?,
    };
    not_empty(password)
}

/// A password to be: on a terminal, typed twice.
pub(crate) fn new_password(whose: &str) -> Result<String, Failure> {
    if !std::io::stdin().is_terminal() {
        return not_empty(line()?);
    }
    let password = not_empty(rpassword::prompt_password(format!(
        "New password of {whose}: "
    ))?)?;
    match rpassword::prompt_password("And again: ")? == password {
        true => Ok(password),
        false => Err(Failure::new("the two passwords differ")),
    }
}

/// Whether to go on; never yes without a terminal.
pub(crate) fn agrees(question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(format!("{question} Say so with --yes")));
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn line() -> Result<String, Failure> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

fn not_empty(password: String) -> Result<String, Failure> {
    match password.is_empty() {
        true => Err(Failure::new("the password is empty")),
        false => Ok(password),
    }
}
