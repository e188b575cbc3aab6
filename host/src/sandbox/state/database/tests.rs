use super::*;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn at(file: &Path, limit: u64) -> Database {
    let (database, aside) = open(file, limit, soon()).unwrap();
    assert_eq!(aside, None);
    database
}

fn entry(key: &str, value: &[u8]) -> (String, Vec<u8>) {
    (key.into(), value.into())
}

fn refused<T: fmt::Debug>(done: Result<T, Fault>) -> String {
    match done {
        Err(Fault::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn what_is_set_is_there_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    let mut database = at(&file, 1000);
    database
        .set_all(&[entry("a", b"1"), entry("\u{0}é", b""), entry("a", b"22")])
        .unwrap();
    drop(database);
    let mut database = at(&file, 1000);
    assert_eq!(database.get("a").unwrap(), Some(b"22".to_vec()));
    assert_eq!(database.get("\u{0}é").unwrap(), Some(Vec::new()));
    assert_eq!(database.get("b").unwrap(), None);
    assert!(database.has("a").unwrap() && !database.has("A").unwrap());
    assert_eq!(
        database.get_all(vec!["b".into(), "a".into()]).unwrap(),
        [None, Some(entry("a", b"22"))]
    );
    database.delete_all(&["a".into(), "never".into()]).unwrap();
    assert!(!database.has("a").unwrap());
}

#[test]
fn the_limit_holds_and_nothing_is_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = at(&folder.path().join("x.sqlite"), 1000);
    database.set_all(&[entry("key", &[7; 997])]).unwrap();
    assert_eq!(
        refused(database.set_all(&[entry("key", b""), entry("k", &[0; 997])])),
        "1001 bytes of keys and values are more than 1000; raise `limits.state`"
    );
    assert_eq!(database.get("key").unwrap(), Some(vec![7; 997]));
    assert!(!database.has("k").unwrap());
    // What is replaced or deleted makes room.
    database
        .set_all(&[entry("key", b""), entry("k", &[0; 996])])
        .unwrap();
    database.delete_all(&["k".into()]).unwrap();
    database.set_all(&[entry("l", &[0; 996])]).unwrap();
    refused(database.increment("m", 1));
    assert!(!database.has("m").unwrap());
    // A limit that was lowered lets what is there become smaller, and not larger.
    database.limit = 100;
    database.set_all(&[entry("l", &[0; 900])]).unwrap();
    refused(database.set_all(&[entry("l", &[0; 901])]));
}

#[test]
fn keys_values_and_calls_have_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = at(&folder.path().join("x.sqlite"), 64 << 20);
    database
        .set_all(&[entry(&"k".repeat(256), b""), entry("v", &vec![0; 1 << 20])])
        .unwrap();
    assert_eq!(
        refused(database.set_all(&[entry(&"k".repeat(257), b"")])),
        "a key of 257 bytes is not from 1 to 256"
    );
    assert_eq!(
        refused(database.set_all(&[entry("", b"")])),
        "a key of 0 bytes is not from 1 to 256"
    );
    assert_eq!(
        refused(database.set_all(&[entry("v", &vec![0; (1 << 20) + 1])])),
        "a value of 1048577 bytes is larger than 1048576"
    );
    assert_eq!(
        refused(database.get_all(vec!["x".into(); 1001])),
        "1001 keys in one call are more than 1000"
    );
    assert_eq!(
        refused(database.get_all(vec!["v".into(); 4])),
        "more than 4194304 bytes are asked for in one call"
    );
}

#[test]
fn keys_come_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = at(&folder.path().join("x.sqlite"), 1 << 20);
    let all: Vec<String> = (0..2500).map(|it| format!("key {it}")).collect();
    for keys in all.chunks(1000) {
        let entries: Vec<_> = keys.iter().map(|key| entry(key, b"")).collect();
        database.set_all(&entries).unwrap();
    }
    let mut found = Vec::new();
    let mut pages = Vec::new();
    let mut cursor = Some(0);
    while let Some(behind) = cursor {
        let page = database.keys(behind).unwrap();
        pages.push(page.keys.len());
        found.extend(page.keys);
        cursor = page.next;
    }
    assert_eq!(pages, [1000, 1000, 500]);
    assert_eq!(found, all);
    let none = Page {
        keys: Vec::new(),
        next: None,
    };
    assert_eq!(database.keys(u64::MAX).unwrap(), none);
}

#[test]
fn numbers_grow_by_what_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = at(&folder.path().join("x.sqlite"), 1000);
    assert_eq!(database.increment("n", 0).unwrap(), 0);
    assert_eq!(database.increment("n", 5).unwrap(), 5);
    assert_eq!(database.increment("n", u64::MAX - 5).unwrap(), u64::MAX);
    assert_eq!(
        refused(database.increment("n", 1)),
        "the number grows beyond 2^64 - 1"
    );
    assert_eq!(
        database.get("n").unwrap(),
        Some(b"18446744073709551615".to_vec())
    );
    database.set_all(&[entry("text", b"-1")]).unwrap();
    assert_eq!(
        refused(database.increment("text", 1)),
        "what the key has is not a number"
    );
}

#[test]
fn many_at_once_count_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    // All of them make the file.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut database = at(&file, 1000);
                for _ in 0..250 {
                    database.until(soon(), |it| it.increment("n", 1)).unwrap();
                }
            });
        }
    });
    assert_eq!(at(&file, 1000).get("n").unwrap(), Some(b"1000".to_vec()));
}

#[test]
fn a_damaged_file_is_kept_beside_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    let aside = folder.path().join("x.sqlite.broken");
    let mut database = at(&file, 100_000);
    for number in 0..100 {
        database
            .set_all(&[entry(&format!("key {number}"), &[number; 500])])
            .unwrap();
    }
    drop(database);
    let good = std::fs::read(&file).unwrap();
    let damages: [&dyn Fn() -> Vec<u8>; 4] = [
        &|| b"this is no database at all, and long enough to be looked at".repeat(20),
        &|| good[..good.len() / 2].to_vec(),
        // The second page on is overwritten.
        &|| {
            let mut bytes = good.clone();
            bytes[4096..].fill(0xaa);
            bytes
        },
        // Tables of somebody else.
        &|| {
            let other = folder.path().join("other");
            let connection = Connection::open(&other).unwrap();
            connection.execute_batch("CREATE TABLE t (x)").unwrap();
            drop(connection);
            std::fs::read(other).unwrap()
        },
    ];
    for (index, damage) in damages.iter().enumerate() {
        let bytes = damage();
        std::fs::write(&file, &bytes).unwrap();
        let (mut database, told) = open(&file, 1000, soon()).unwrap();
        assert_eq!(told.as_deref(), Some(aside.as_path()), "damage {index}");
        assert_eq!(std::fs::read(&aside).unwrap().len(), bytes.len());
        assert_eq!(database.get("key 1").unwrap(), None);
        database.increment("n", 1).unwrap();
        drop(database);
        assert_eq!(at(&file, 1000).get("n").unwrap(), Some(b"1".to_vec()));
    }
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    drop(at(&file, 1000));
    let connection = Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    assert_eq!(
        refused(open(&file, 1000, soon()).map(|_| ())),
        "was made by a newer version of hookcell (tables of version 2)"
    );
}

#[test]
fn a_file_that_others_hold_is_given_up_at_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    let mut database = at(&file, 1000);
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let deadline = Instant::now() + Duration::from_millis(100);
    let fault = database
        .until(deadline, |it| it.increment("n", 1))
        .unwrap_err();
    // SQLite counts whole milliseconds.
    assert!(Instant::now() + Duration::from_millis(2) >= deadline);
    assert_eq!(
        fault.to_string(),
        "was in use by others for all of the hook's time"
    );
}
