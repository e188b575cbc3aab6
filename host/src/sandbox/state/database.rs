//! One store as a database file.
//!
//! SQLite, since several hookcell processes use one store at once, and any of them may be killed at
//! any instant: its write-ahead log makes every change whole or not at all. Databases that lock
//! their file for one process would make the others wait for a whole run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, TransactionBehavior};

/// The longest key, in bytes. The shortest has one.
const LONGEST_KEY: usize = 256;

/// The largest value, in bytes.
const LARGEST_VALUE: usize = 1 << 20;

/// The most entries, since each costs more than its key and value.
const MOST_ENTRIES: u64 = 50_000;

/// The most keys of one call, and the most bytes that one call returns.
const BATCH: usize = 1000;
const BATCH_BYTES: usize = 4 << 20;

/// A file up to this size is looked through each time it is opened.
const LOOKED_THROUGH: u64 = 8 << 20;

/// The version of the tables.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL) STRICT;
    CREATE TABLE total (bytes INTEGER NOT NULL, entries INTEGER NOT NULL) STRICT;
    INSERT INTO total VALUES (0, 0);
    PRAGMA user_version = 1;
";

/// Why something was not done, in words that come behind the store's name.
#[derive(Debug)]
pub(super) enum Fault {
    /// A limit, or something that cannot be done with what is kept.
    Refused(String),
    /// The file is not what hookcell left.
    Damaged,
    /// What the database says.
    Database(rusqlite::Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Damaged => f.write_str("is damaged"),
            Self::Database(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    f.write_str("was in use by others for all of the hook's time")
                }
                Some(ErrorCode::DiskFull) => f.write_str("cannot be written: the disk is full"),
                _ => write!(f, "cannot be used: {error}"),
            },
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            _ => Self::Database(error),
        }
    }
}

impl Fault {
    /// What a guest and the user are told of it.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Refused(why) => why.clone(),
            other => format!("the store {other}"),
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self, Self::Database(error) if matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        ))
    }
}

/// A key and its value.
pub(super) type Entry = (String, Vec<u8>);

/// A page of keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) keys: Vec<String>,
    pub(super) next: Option<u64>,
}

/// An open store.
pub(super) struct Database {
    connection: Connection,
    limit: u64,
}

/// Opens the store in this file, which may hold `limit` bytes. One that is damaged is kept beside
/// it, at the path that is returned, and a new one made.
pub(super) fn open(
    file: &Path,
    limit: u64,
    deadline: Instant,
) -> Result<(Database, Option<PathBuf>), Fault> {
    match open_patiently(file, deadline) {
        Ok(connection) => Ok((Database { connection, limit }, None)),
        Err(Fault::Damaged) => {
            let (connection, aside) = set_aside(file, deadline)?;
            Ok((Database { connection, limit }, aside))
        }
        Err(fault) => Err(fault),
    }
}

/// What is not waited for by the database itself is tried again: the first of two processes that
/// make a file holds the other up.
fn open_patiently(file: &Path, deadline: Instant) -> Result<Connection, Fault> {
    loop {
        match open_file(file, deadline) {
            Err(fault) if fault.is_busy() && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            opened => return opened,
        }
    }
}

fn open_file(file: &Path, deadline: Instant) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(left(deadline))?;
    // A file that somebody else made must not run anything.
    connection.pragma_update(None, "trusted_schema", false)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::Refused(format!(
            "cannot be used: its file system allows no write-ahead log (`{mode}`)"
        )));
    }
    // A killed process loses nothing; a machine that loses power may lose the last changes.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Most often the tables are there, and nobody has to wait for the right to write.
    if version(&connection)? != VERSION {
        make_tables(&mut connection)?;
    }
    if std::fs::metadata(file).is_ok_and(|it| it.len() <= LOOKED_THROUGH) {
        let found: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
        if found != "ok" {
            return Err(Fault::Damaged);
        }
    }
    let total = connection.query_row("SELECT bytes, entries FROM total", [], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, u64>(1)?))
    });
    match total {
        Ok(_) => Ok(connection),
        // Tables that are not as they were made are as bad as a file that is not.
        Err(error) if matches!(error.sqlite_error_code(), None | Some(ErrorCode::Unknown)) => {
            Err(Fault::Damaged)
        }
        Err(error) => Err(error.into()),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn make_tables(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match version(&transaction)? {
        0 => {
            let tables: i64 =
                transaction
                    .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if tables != 0 {
                return Err(Fault::Damaged);
            }
            transaction.execute_batch(TABLES)?;
        }
        VERSION => {}
        newer => {
            return Err(Fault::Refused(format!(
                "was made by a newer version of hookcell (tables of version {newer})"
            )));
        }
    }
    Ok(transaction.commit()?)
}

/// Puts a damaged file aside, once, whoever else has found it damaged too, and opens a new one.
fn set_aside(file: &Path, deadline: Instant) -> Result<(Connection, Option<PathBuf>), Fault> {
    let trouble = |error: std::io::Error| {
        Fault::Refused(format!(
            "is damaged, and cannot be put aside: {error}; remove it"
        ))
    };
    let beside = |more: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(more);
        PathBuf::from(name)
    };
    let lock = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(beside(".lock"))
        .map_err(trouble)?;
    while lock.try_lock().is_err() {
        if Instant::now() >= deadline {
            return Err(Fault::Damaged);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    match open_patiently(file, deadline) {
        Ok(connection) => return Ok((connection, None)),
        Err(Fault::Damaged) => {}
        Err(fault) => return Err(fault),
    }
    let aside = beside(".broken");
    std::fs::rename(file, &aside).map_err(trouble)?;
    for part in ["-wal", "-shm"] {
        match std::fs::remove_file(beside(part)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(trouble(error));
            }
            _ => {}
        }
    }
    Ok((open_patiently(file, deadline)?, Some(aside)))
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

impl Database {
    /// Does something, and waits for others until `deadline` at most.
    pub(super) fn until<T>(
        &mut self,
        deadline: Instant,
        act: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.connection.busy_timeout(left(deadline))?;
        act(self)
    }

    /// The value of a key.
    pub(super) fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Fault> {
        Ok(value(&self.connection, key)?)
    }

    /// The values of keys that are there, in their order.
    pub(super) fn get_all(&mut self, keys: Vec<String>) -> Result<Vec<Option<Entry>>, Fault> {
        check_batch(keys.len())?;
        // One look: nobody's changes come between.
        let look = self.connection.transaction()?;
        let mut bytes = 0;
        keys.into_iter()
            .map(|key| {
                let found = value(&look, &key)?;
                bytes += key.len() + found.as_ref().map_or(0, Vec::len);
                if bytes > BATCH_BYTES {
                    return Err(Fault::Refused(format!(
                        "more than {BATCH_BYTES} bytes are asked for in one call"
                    )));
                }
                Ok(found.map(|found| (key, found)))
            })
            .collect()
    }

    /// Whether a key is there.
    pub(super) fn has(&mut self, key: &str) -> Result<bool, Fault> {
        Ok(size(&self.connection, key)?.is_some())
    }

    /// The keys behind this place.
    pub(super) fn keys(&mut self, behind: u64) -> Result<Page, Fault> {
        let behind = i64::try_from(behind).unwrap_or(i64::MAX);
        let mut statement = self
            .connection
            .prepare("SELECT id, key FROM entries WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        let rows = statement.query_map((behind, BATCH + 1), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        let is_last = rows.len() <= BATCH;
        rows.truncate(BATCH);
        let next = rows.last().and_then(|(id, _)| u64::try_from(*id).ok());
        Ok(Page {
            keys: rows.into_iter().map(|(_, key)| key).collect(),
            next: next.filter(|_| !is_last),
        })
    }

    /// Sets all of these, or none.
    pub(super) fn set_all(&mut self, entries: &[Entry]) -> Result<(), Fault> {
        check_batch(entries.len())?;
        self.change(|change| {
            entries
                .iter()
                .try_for_each(|(key, value)| change.set(key, value))
        })
    }

    /// Deletes all of these.
    pub(super) fn delete_all(&mut self, keys: &[String]) -> Result<(), Fault> {
        check_batch(keys.len())?;
        self.change(|change| keys.iter().try_for_each(|key| change.delete(key)))
    }

    /// Adds to a number that is kept as decimal digits, and returns the sum.
    pub(super) fn increment(&mut self, key: &str, delta: u64) -> Result<u64, Fault> {
        self.change(|change| {
            let number = match value(change.transaction, key)? {
                None => 0,
                Some(value) => std::str::from_utf8(&value)
                    .ok()
                    .and_then(|text| text.parse::<u64>().ok())
                    .ok_or_else(|| Fault::Refused("what the key has is not a number".into()))?,
            };
            let sum = number
                .checked_add(delta)
                .ok_or_else(|| Fault::Refused("the number grows beyond 2^64 - 1".into()))?;
            change.set(key, sum.to_string().as_bytes())?;
            Ok(sum)
        })
    }

    /// Changes entries, all or none, and holds the sum to its limit.
    fn change<T>(
        &mut self,
        act: impl FnOnce(&mut Change<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        // Whoever begins to write waits at the beginning: two that read first and then want to
        // write would be in each other's way.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (bytes, entries) =
            transaction.query_row("SELECT bytes, entries FROM total", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let mut change = Change {
            transaction: &transaction,
            bytes,
            entries,
        };
        let done = act(&mut change)?;
        let (after, entries) = (change.bytes, change.entries);
        // A limit that was lowered lets a store shrink.
        if after > self.limit && after > bytes {
            return Err(Fault::Refused(format!(
                "{after} bytes of keys and values are more than {}; raise `limits.state`",
                self.limit
            )));
        }
        if entries > MOST_ENTRIES {
            return Err(Fault::Refused(format!(
                "more than {MOST_ENTRIES} keys cannot be kept"
            )));
        }
        transaction.execute(
            "UPDATE total SET bytes = ?1, entries = ?2",
            (after, entries),
        )?;
        transaction.commit()?;
        Ok(done)
    }
}

/// A change that is being made.
struct Change<'a> {
    transaction: &'a Connection,
    bytes: u64,
    entries: u64,
}

impl Change<'_> {
    fn set(&mut self, key: &str, value: &[u8]) -> Result<(), Fault> {
        if key.is_empty() || key.len() > LONGEST_KEY {
            return Err(Fault::Refused(format!(
                "a key of {} bytes is not from 1 to {LONGEST_KEY}",
                key.len()
            )));
        }
        if value.len() > LARGEST_VALUE {
            return Err(Fault::Refused(format!(
                "a value of {} bytes is larger than {LARGEST_VALUE}",
                value.len()
            )));
        }
        self.forget(key)?;
        self.bytes += (key.len() + value.len()) as u64;
        self.entries += 1;
        self.transaction
            .prepare(
                "INSERT INTO entries (key, value) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )?
            .execute((key, value))?;
        Ok(())
    }

    fn delete(&mut self, key: &str) -> Result<(), Fault> {
        self.forget(key)?;
        self.transaction
            .prepare("DELETE FROM entries WHERE key = ?1")?
            .execute([key])?;
        Ok(())
    }

    /// Takes what a key has from the sums.
    fn forget(&mut self, key: &str) -> Result<(), Fault> {
        if let Some(size) = size(self.transaction, key)? {
            self.bytes = self.bytes.saturating_sub(key.len() as u64 + size);
            self.entries = self.entries.saturating_sub(1);
        }
        Ok(())
    }
}

fn value(connection: &Connection, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare("SELECT value FROM entries WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

fn size(connection: &Connection, key: &str) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare("SELECT length(value) FROM entries WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

fn check_batch(keys: usize) -> Result<(), Fault> {
    if keys > BATCH {
        return Err(Fault::Refused(format!(
            "{keys} keys in one call are more than {BATCH}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
