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
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("connect={}", listener.local_addr().unwrap());
    // A grant for requests is none for sockets.
    let named = listener.local_addr().unwrap().to_string();
    let hook = json!({"permissions": {"network": [named]}});
    let record = run(COMPONENT, &[&address, &address], hook).await;
    assert!(record.stdout.is_empty() && record.success, "{record:?}");
    assert!(record.stderr.contains("PermissionDenied"), "{record:?}");
    let what = "sockets: it opens a TCP socket, which no hook can be granted";
    assert_eq!(denied(&record), [(what, 2)]);
    assert_eq!(record.denied[0].grant, None);
    assert!(listener.accept().is_err());
    let record = run(COMPONENT, &["connect=exa\u{1b}mple.com:80"], json!({})).await;
    let what = "sockets: it looks up the address of `exa\\u{1b}mple.com`";
    assert_eq!(denied(&record), [(what, 1)]);
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
