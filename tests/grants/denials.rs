//! What runtimes import by themselves is there, gives nothing, and its use is counted.

use serde_json::json;

use crate::support::{COMPONENT, MODULE};
use crate::{GRANTED, denied, run};

#[tokio::test]
async fn asking_for_variables_is_counted_where_there_are_none() {
    for file in [COMPONENT, MODULE] {
        let record = run(file, &["environment"], json!({})).await;
        assert_eq!((record.stdout.as_str(), record.success), ("", true));
        let what = "variables: it asks for the environment, which is empty";
        assert_eq!(denied(&record), [(what, 1)], "{file}");
        assert_eq!(
            record.denied[0].grant.as_deref(),
            Some("\"environment\": [\"NAME\"]")
        );
        let record = run(file, &["arguments"], json!({})).await;
        assert_eq!(denied(&record), [], "{file}");
        let hook = json!({"permissions": {"environment": ["PATH"]}});
        let record = run(file, &["environment"], hook).await;
        let path = std::env::var("PATH").unwrap();
        assert_eq!(record.stdout, format!("PATH={path}\n"));
        assert_eq!(denied(&record), [], "{file}");
        let record = run(file, &["environment"], json!({"config": {"a": "é"}})).await;
        assert_eq!(record.stdout, "HOOKCELL_CONFIG={\"a\":\"é\"}\n");
        assert_eq!(denied(&record), [], "{file}");
    }
}

#[tokio::test]
async fn sockets_are_refused_before_they_are_made_and_counted() {
    // A grant for requests is none for sockets.
    let hook =
        json!({"permissions": {"network": ["example.com:80", "127.0.0.1:80"], "state": true}});
    let args = [
        "socket=tcp",
        "socket=udp",
        "socket=tcp",
        "lookup=example.com",
        "lookup=a\u{1b}b",
    ];
    let record = run(GRANTED, &args, hook).await;
    assert_eq!(record.stdout.matches("name: \"access-denied\"").count(), 3);
    let unresolved = "name: \"permanent-resolver-failure\"";
    assert_eq!(record.stdout.matches(unresolved).count(), 2);
    assert_eq!(record.stdout.matches("Err(").count(), 5);
    assert_eq!(
        denied(&record),
        [
            (
                "sockets: it opens a TCP socket, which no hook can be granted",
                2
            ),
            (
                "sockets: it opens a UDP socket, which no hook can be granted",
                1
            ),
            ("sockets: it looks up the address of `example.com`", 1),
            ("sockets: it looks up the address of `a\\u{1b}b`", 1),
        ]
    );
    assert!(record.denied.iter().all(|it| it.grant.is_none()));
}

#[tokio::test]
async fn settings_are_the_members_of_the_config() {
    let hook = json!({
        "permissions": {"network": ["a:1"], "state": true},
        "config": {"text": "a \"b\"", "number": 1.50, "list": [1, "x"], "none": null},
    });
    let args = [
        "setting=text",
        "setting=number",
        "setting=never",
        "settings",
    ];
    let record = run(GRANTED, &args, hook).await;
    assert_eq!(
        record.stdout,
        "Ok(Some(\"a \\\"b\\\"\"))\nOk(Some(\"1.5\"))\nOk(None)\nOk([(\"list\", \"[1,\\\"x\\\"]\"), \
         (\"none\", \"null\"), (\"number\", \"1.5\"), (\"text\", \"a \\\"b\\\"\")])\n"
    );
    let hook = json!({"permissions": {"network": ["a:1"], "state": true}});
    let record = run(GRANTED, &["settings"], hook).await;
    assert_eq!(record.stdout, "Ok([])\n");
}
