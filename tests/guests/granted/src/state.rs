//! The store.

use crate::bindings::wasi::keyvalue::store::{Bucket, Error, open};
use crate::bindings::wasi::keyvalue::{atomics, batch};
use crate::{number, unknown};

pub fn perform(name: &str, value: &str) {
    if name == "state-open" {
        return tell(open(value).map(|_| "open".into()));
    }
    let store = match open("default") {
        Ok(store) => store,
        Err(error) => return tell(Err(error)),
    };
    let (key, value) = value.split_once('=').unwrap_or((value, ""));
    match name {
        "state-get" => tell(store.get(key).map(|value| match value {
            Some(value) => String::from_utf8_lossy(&value).into_owned(),
            None => "none".into(),
        })),
        "state-set" => tell(store.set(key, value.as_bytes()).map(|()| "set".into())),
        "state-fill" => {
            let bytes = vec![b'x'; number(value) as usize];
            tell(store.set(key, &bytes).map(|()| "set".into()));
        }
        "state-pair" => tell(pair(&store, key, number(value)).map(|()| "set".into())),
        "state-delete" => tell(store.delete(key).map(|()| "deleted".into())),
        "state-has" => tell(store.exists(key).map(|is| is.to_string())),
        "state-count" => tell(atomics::increment(&store, key, 1).map(|sum| sum.to_string())),
        "state-count-times" => {
            let mut sum = Ok(0);
            for _ in 0..number(value) {
                sum = atomics::increment(&store, key, 1);
            }
            tell(sum.map(|sum| sum.to_string()));
        }
        "state-count-pairs" => count_pairs(&store),
        "state-keys" => tell(keys(&store)),
        _ => unknown(name),
    }
}

fn tell(answer: Result<String, Error>) {
    match answer {
        Ok(text) => println!("{text}"),
        Err(error) => println!("error: {error:?}"),
    }
}

fn pair(store: &Bucket, name: &str, number: u64) -> Result<(), Error> {
    let value = number.to_string().into_bytes();
    batch::set_many(
        store,
        &[
            (format!("{name}-a"), value.clone()),
            (format!("{name}-b"), value),
        ],
    )
}

/// Ends only with the process, or by an error.
fn count_pairs(store: &Bucket) {
    for number in 0.. {
        if let Err(error) = pair(store, "pair", number) {
            return tell(Err(error));
        }
    }
}

fn keys(store: &Bucket) -> Result<String, Error> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.list_keys(cursor)?;
        all.extend(page.keys);
        cursor = page.cursor;
        if cursor.is_none() {
            return Ok(all.join(" "));
        }
    }
}
