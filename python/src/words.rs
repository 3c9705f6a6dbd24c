//! From Python's values to the words of the command line, which says what is wrong with them. A value means the same in
//! both, and has the same defaults.

use crate::failure::exception;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use segue::cli::Command;
use std::ffi::OsString;
use std::path::Path;

/// A command line.
pub struct Words(Vec<OsString>);

impl Words {
    /// `segue COMMAND...`.
    pub fn of(command: &[&str]) -> Self {
        Self(["segue"].iter().chain(command).map(OsString::from).collect())
    }

    /// `--NAME=VALUE`, if it is given.
    pub fn option(&mut self, name: &str, value: Option<impl AsRef<str>>) -> &mut Self {
        if let Some(value) = value {
            self.0.push(format!("--{name}={}", value.as_ref()).into());
        }
        self
    }

    /// `--NAME=A,B,...`, if it is given.
    pub fn list<T: AsRef<str>>(&mut self, name: &str, values: Option<&Several<T>>) -> &mut Self {
        let Some(Several(values)) = values else { return self };
        let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        self.option(name, Some(values.join(",")))
    }

    /// `--NAME=A --NAME=B ...`, if it is given.
    pub fn each<T: AsRef<str>>(&mut self, name: &str, values: Option<&Several<T>>) -> &mut Self {
        for value in values.iter().flat_map(|Several(values)| values) {
            self.option(name, Some(value));
        }
        self
    }

    /// `--NAME`, if it is so.
    pub fn switch(&mut self, name: &str, on: bool) -> &mut Self {
        if on {
            self.0.push(format!("--{name}").into());
        }
        self
    }

    /// `--set=KEY=VALUE` for each.
    pub fn settings(&mut self, settings: Option<&Settings>) -> &mut Self {
        for (key, value) in settings.iter().flat_map(|Settings(all)| all) {
            self.option("set", Some(format!("{key}={value}")));
        }
        self
    }

    /// Words that are no options, whatever they begin with.
    pub fn rest(&mut self, words: &[&str]) -> &mut Self {
        self.0.push("--".into());
        self.0.extend(words.iter().map(OsString::from));
        self
    }

    /// The same with a file.
    pub fn file(&mut self, path: &Path) -> &mut Self {
        self.0.extend(["--".into(), path.into()]);
        self
    }

    /// The command, as the command line understands it.
    ///
    /// Errors: `ValueError` with its one line.
    pub fn command(&self) -> PyResult<Command> {
        segue::command(&self.0).map_err(exception)
    }

    /// The words.
    pub fn as_slice(&self) -> &[OsString] {
        &self.0
    }
}

/// A value's type as Python names it.
fn type_name(value: &Borrowed<'_, '_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string())
}

fn expected(what: &str, value: &Borrowed<'_, '_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("expected {what}, not {}", type_name(value)))
}

/// Expected kinds of a value of Python.
pub trait Expected {
    /// In words.
    const WORDS: &'static str;
}

/// A word.
pub struct Word(pub String);

/// A whole number of any size.
pub struct Count(String);

/// A number.
pub struct Number(String);

/// A time: a word with its unit, or a number of seconds.
pub struct Time(String);

impl Expected for Word {
    const WORDS: &'static str = "str";
}

impl Expected for Count {
    const WORDS: &'static str = "int";
}

impl Expected for Number {
    const WORDS: &'static str = "int or float";
}

impl Expected for Time {
    const WORDS: &'static str = "str such as '1s', or int or float in seconds";
}

macro_rules! as_word {
    ($($type:ident),*) => {$(
        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    )*};
}
as_word!(Word, Count, Number, Time);

/// The digits of a whole number; `True` and `False` are none.
fn digits(value: &Borrowed<'_, '_, PyAny>) -> PyResult<Option<String>> {
    match value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        true => Ok(Some(value.str()?.to_string())),
        false => Ok(None),
    }
}

/// A number in decimals, never with an exponent.
fn decimals(value: &Borrowed<'_, '_, PyAny>) -> PyResult<Option<String>> {
    if value.is_instance_of::<PyFloat>() {
        return Ok(Some(value.extract::<f64>()?.to_string()));
    }
    digits(value)
}

impl<'py> FromPyObject<'_, 'py> for Word {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.cast::<PyString>() {
            Ok(word) => Ok(Self(word.to_str()?.to_string())),
            Err(_) => Err(expected(Self::WORDS, &value)),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        digits(&value)?.map(Self).ok_or_else(|| expected(Self::WORDS, &value))
    }
}

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        decimals(&value)?.map(Self).ok_or_else(|| expected(Self::WORDS, &value))
    }
}

impl<'py> FromPyObject<'_, 'py> for Time {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(word) = value.cast::<PyString>() {
            return Ok(Self(word.to_str()?.to_string()));
        }
        let seconds = decimals(&value)?.ok_or_else(|| expected(Self::WORDS, &value))?;
        Ok(Self(format!("{seconds}s")))
    }
}

/// One value, or a list or tuple of them.
pub struct Several<T>(Vec<T>);

impl<'a, 'py, T: Expected + for<'v> FromPyObject<'v, 'py, Error = PyErr>> FromPyObject<'a, 'py>
    for Several<T>
{
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(one) = value.extract() {
            return Ok(Self(vec![one]));
        }
        let what = format!("{} or a list of it", T::WORDS);
        if value.is_instance_of::<PyString>() || value.len().is_err() {
            return Err(expected(&what, &value));
        }
        let items = value.try_iter().map_err(|_| expected(&what, &value))?;
        items.map(|item| item?.extract()).collect::<PyResult<_>>().map(Self)
    }
}

/// Two numbers.
pub struct Range(String);

impl<'py> FromPyObject<'_, 'py> for Range {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let wrong = || expected("a pair of numbers", &value);
        let (from, to): (Number, Number) = value.extract().map_err(|_| wrong())?;
        Ok(Self(format!("{}..{}", from.0, to.0)))
    }
}

impl AsRef<str> for Range {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Settings of schemes and stacks: words, numbers, `True` and `False`, by their names.
pub struct Settings(Vec<(String, String)>);

impl<'py> FromPyObject<'_, 'py> for Settings {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let what = "a dict of settings, str to str, int, float or bool";
        let items = value.call_method0("items").map_err(|_| expected(what, &value))?;
        let setting = |item: PyResult<Bound<'py, PyAny>>| -> PyResult<(String, String)> {
            let (key, value): (Word, Bound<'py, PyAny>) = item?.extract()?;
            let borrowed = value.as_borrowed();
            let word = match value.cast::<PyBool>() {
                Ok(switch) => (if switch.is_true() { "on" } else { "off" }).to_string(),
                Err(_) => match decimals(&borrowed)? {
                    Some(number) => number,
                    None => borrowed.extract::<Word>().map_err(|_| expected(what, &borrowed))?.0,
                },
            };
            Ok((key.0, word))
        };
        items.try_iter()?.map(setting).collect::<PyResult<_>>().map(Self)
    }
}
