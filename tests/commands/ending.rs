//! How hooks are ended: at their timeout, and when the run is given up.

use std::fs;
use std::time::Duration;

use hookcell::outcome::End;

use crate::hook::{Hook, alone, assert_timed_out, bash, gone, held, is_alive, sh, wait_for};

const SHORT: Duration = Duration::from_millis(400);

/// Runs a hook that must time out, and wait until the processes that it names are gone.
async fn times_out(hook: Hook, pids: &[&str]) -> String {
    let hook = hook.timeout(SHORT);
    let outcome = hook.run().await;
    assert_timed_out(&outcome, "0.4");
    assert!(
        outcome.usage.elapsed < Duration::from_secs(15),
        "{:?}",
        outcome.usage
    );
    for file in pids {
        gone(hook.pid(file).await).await;
    }
    String::from_utf8(outcome.stdout.bytes).unwrap()
}

#[tokio::test]
async fn a_timeout_ends_the_process_and_its_children_and_keeps_what_was_said() {
    let hook = sh("echo $$ >leader; sleep 1000 & echo $! >child; echo before; wait");
    assert_eq!(times_out(hook, &["leader", "child"]).await, "before\n");
}

#[tokio::test]
async fn a_hook_may_say_its_last_words_when_it_is_asked_to_end() {
    let hook = sh("trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done");
    assert_eq!(times_out(hook, &[]).await, "up\nasked\n");
}

#[tokio::test]
async fn ignoring_the_request_does_not_help() {
    let hook = sh("trap '' TERM INT HUP; echo $$ >leader; while :; do sleep 1; done");
    times_out(hook, &["leader"]).await;
    // Nor if the leader obeys and only a child ignores it.
    let child = "trap \"\" TERM; echo $$ >child; while :; do sleep 1; done";
    times_out(bash(&format!("sh -c '{child}' & wait")), &["child"]).await;
}

#[tokio::test]
async fn a_child_has_its_grace_when_the_leader_obeys_at_once() {
    let child = "trap \"sleep 0.1; echo tidied >tidied; exit\" TERM; while :; do sleep 0.01; done";
    let hook = bash(&format!("sh -c '{child}' & wait")).timeout(SHORT);
    assert_timed_out(&hook.run().await, "0.4");
    assert_eq!(
        fs::read_to_string(hook.folder().join("tidied")).unwrap(),
        "tidied\n"
    );
}

#[tokio::test]
async fn a_stopped_hook_is_ended() {
    times_out(sh("echo $$ >leader; kill -STOP $$"), &["leader"]).await;
    let child = "echo $$ >child; kill -STOP $$";
    times_out(
        sh(&format!("sh -c '{child}' & wait; sleep 1000")),
        &["child"],
    )
    .await;
    // A stopped process can tidy up, too.
    let hook = bash("trap 'echo asked; exit' TERM; kill -STOP $$; sleep 1000");
    assert_eq!(times_out(hook, &[]).await, "asked\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn groups_within_the_session_are_ended() {
    let hook = sh("timeout 1000 sleep 1000 & echo $! >child; wait");
    times_out(hook, &["child"]).await;
    // With job control every job is a group.
    let child = "trap \"\" TERM; echo $$ >child; while :; do sleep 1; done";
    let hook = bash(&format!("set -m; sh -c '{child}' & wait"));
    times_out(hook, &["child"]).await;
    // They are asked before they are killed.
    let child = "trap \"echo tidied >tidied; exit\" TERM; while :; do sleep 0.01; done";
    let hook = bash(&format!("set -m; sh -c '{child}' & wait")).timeout(SHORT);
    assert_timed_out(&hook.run().await, "0.4");
    assert!(hook.folder().join("tidied").exists());
}

#[tokio::test]
async fn a_job_of_a_hook_that_exits_in_time_outlives_the_timeout() {
    let hook = sh("sleep 1000 >/dev/null 2>&1 & echo $! >job").timeout(Duration::from_secs(5));
    assert_eq!(hook.run().await.end, End::Exited(0));
    let job = hook.pid("job").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(is_alive(job));
    crate::hook::kill(job);
}

#[tokio::test]
async fn every_timeout_can_be_asked_for() {
    for timeout in [
        Duration::from_secs(86_400),
        Duration::from_secs(u64::MAX),
        Duration::MAX,
    ] {
        assert_eq!(
            sh("exit 3").timeout(timeout).run().await.end,
            End::Exited(3)
        );
    }
    let outcome = sh("sleep 1000").timeout(Duration::ZERO).run().await;
    assert_timed_out(&outcome, "0");
}

/// Starts a hook that names its processes, and gives it up once it has.
async fn given_up(script: &str, timeout: Duration, pids: &[&str], wait: Duration) {
    let hook = std::sync::Arc::new(sh(script).timeout(timeout));
    let running = std::sync::Arc::clone(&hook);
    let task = tokio::spawn(async move { running.run().await });
    let mut found = Vec::new();
    for file in pids {
        found.push(hook.pid(file).await);
    }
    tokio::time::sleep(wait).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    for pid in found {
        gone(pid).await;
    }
}

#[tokio::test]
async fn dropping_the_future_ends_everything() {
    let hour = Duration::from_secs(3600);
    let script = "trap '' TERM; echo $$ >leader; sleep 1000 & echo $! >child; wait; wait";
    given_up(script, hour, &["leader", "child"], Duration::ZERO).await;
    let script = "timeout 1000 sleep 1000 & echo $! >child; yes";
    given_up(script, hour, &["child"], Duration::ZERO).await;
}

#[tokio::test]
async fn dropping_the_future_cuts_the_grace_short() {
    let script = "trap '' TERM; echo $$ >leader; while :; do sleep 1; done";
    let (timeout, wait) = (Duration::from_millis(300), Duration::from_millis(500));
    given_up(script, timeout, &["leader"], wait).await;
}

#[test]
fn the_end_of_the_runtime_is_the_end_of_its_hooks() {
    let hook = std::sync::Arc::new(sh(
        "trap '' TERM; echo $$ >leader; while :; do sleep 1; done",
    ));
    let one = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (runtime, running) = (one(), std::sync::Arc::clone(&hook));
    let leader = runtime.block_on(async {
        tokio::spawn(async move { running.run().await });
        hook.pid("leader").await
    });
    assert!(is_alive(leader));
    drop(runtime);
    one().block_on(gone(leader));
}

#[test]
fn runs_leave_nothing_behind() {
    alone("ending::runs_leave_nothing_behind", &[], async || {
        let hook = sh("cat; echo err >&2; exit 2").payload(vec![b'x'; 100_000]);
        let late = sh("sleep 1000 & wait").timeout(Duration::from_millis(1));
        let missing = crate::hook::exec("no-such-program", &[]);
        // What the runtime makes on first use is not a leak.
        hook.run().await;
        let before = held();
        for round in 0..200 {
            let outcome = hook.run().await;
            assert_eq!(
                (outcome.end, outcome.stdout.total),
                (End::Exited(2), 100_000)
            );
            if round % 20 == 0 {
                assert!(matches!(late.run().await.end, End::Failed(_)));
                assert!(matches!(missing.run().await.end, End::Failed(_)));
                drop(tokio::time::timeout(Duration::from_millis(1), sh("sleep 1000").run()).await);
            }
        }
        wait_for(|| (held() == before).then_some(())).await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_run_at_once() {
    let mut running = tokio::task::JoinSet::new();
    for index in 0..50u8 {
        running.spawn(async move {
            let hook = sh("cat").payload(vec![index; 300_000]);
            let outcome = hook.run().await;
            assert_eq!(outcome.end, End::Exited(0));
            assert!(outcome.stdout.bytes == vec![index; 300_000]);
        });
    }
    while let Some(one) = running.join_next().await {
        one.unwrap();
    }
}
