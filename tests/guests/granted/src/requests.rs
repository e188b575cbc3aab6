//! Requests, with the interface as it is: what a library would do with them is not asked here.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method,
    OutgoingBody, OutgoingRequest, Scheme,
};
use wasip2::io::streams::StreamError;

use crate::{number, unknown};

pub fn perform(name: &str, value: &str) {
    let two = || value.split_once('=').unwrap_or_else(|| unknown(value));
    match name {
        "get" => tell(send(&Method::Get, value, 0).and_then(body)),
        "head" => tell(send(&Method::Head, value, 0).map(fields)),
        "count" => tell(
            send(&Method::Get, value, 0)
                .and_then(|answer| read(answer, u64::MAX))
                .map(|bytes| bytes.len().to_string()),
        ),
        "post" => {
            let (bytes, url) = two();
            tell(send(&Method::Post, url, number(bytes)).and_then(body));
        }
        "method" => {
            let (method, url) = two();
            let method = match method {
                "CONNECT" => Method::Connect,
                other => Method::Other(other.into()),
            };
            tell(send(&method, url, 0).map(|answer| answer.status().to_string()));
        }
        "times" => {
            let (times, url) = two();
            let answered = (0..number(times)).filter(|_| send(&Method::Get, url, 0).is_ok());
            println!("{}", answered.count());
        }
        "together" => {
            let (times, url) = two();
            let waiting: Vec<_> = (0..number(times))
                .map(|_| begin(&Method::Get, url, 0))
                .collect();
            let answers: Vec<_> = waiting.into_iter().map(|it| it.and_then(wait)).collect();
            println!("{}", answers.iter().filter(|it| it.is_ok()).count());
        }
        "abandon" => std::mem::forget(begin(&Method::Get, value, 0)),
        "hold" => {
            let answer = send(&Method::Get, value, 0).and_then(|answer| read(answer, 1));
            tell(answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        }
        _ => unknown(name),
    }
}

fn tell(answer: Result<String, String>) {
    match answer {
        Ok(text) => println!("{text}"),
        Err(error) => println!("error: {error}"),
    }
}

fn send(method: &Method, url: &str, bytes: u64) -> Result<IncomingResponse, String> {
    wait(begin(method, url, bytes)?)
}

/// Takes an URL apart without a look at whether it is a good one.
fn begin(method: &Method, url: &str, bytes: u64) -> Result<FutureIncomingResponse, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or_else(|| unknown(url));
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.into()),
    };
    let request = OutgoingRequest::new(Fields::new());
    let set = request.set_method(method).is_ok()
        && request.set_scheme(Some(&scheme)).is_ok()
        && request.set_authority(Some(authority)).is_ok()
        && request.set_path_with_query(Some(path)).is_ok();
    if !set {
        return Err("not a request".into());
    }
    let body = request.body().map_err(|()| "no body".to_owned())?;
    let answer = handle(request, None).map_err(|error| code(&error))?;
    if bytes > 0 {
        let stream = body.write().map_err(|()| "no stream".to_owned())?;
        let chunk = [b'x'; 4096];
        let mut left = bytes;
        while left > 0 {
            let size = left.min(4096);
            if stream
                .blocking_write_and_flush(&chunk[..size as usize])
                .is_err()
            {
                // The answer says why.
                drop(stream);
                std::mem::forget(body);
                return Ok(answer);
            }
            left -= size;
        }
        drop(stream);
    }
    OutgoingBody::finish(body, None).map_err(|error| code(&error))?;
    Ok(answer)
}

fn wait(answer: FutureIncomingResponse) -> Result<IncomingResponse, String> {
    answer.subscribe().block();
    match answer.get() {
        Some(Ok(Ok(answer))) => Ok(answer),
        Some(Ok(Err(error))) => Err(code(&error)),
        _ => Err("no answer".into()),
    }
}

fn fields(answer: IncomingResponse) -> String {
    let mut text = answer.status().to_string();
    for (name, value) in answer.headers().entries() {
        text.push_str(&format!(" {name}: {}", String::from_utf8_lossy(&value)));
    }
    text
}

fn body(answer: IncomingResponse) -> Result<String, String> {
    let status = answer.status();
    let bytes = read(answer, u64::MAX)?;
    Ok(format!("{status} {}", String::from_utf8_lossy(&bytes)))
}

/// Reads a body to its end, or the first bytes of it and keeps it open.
fn read(answer: IncomingResponse, most: u64) -> Result<Vec<u8>, String> {
    let body: IncomingBody = answer.consume().map_err(|()| "no body".to_owned())?;
    let stream = body.stream().map_err(|()| "no stream".to_owned())?;
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < most {
        match stream.blocking_read(most.min(64 << 10)) {
            Ok(more) => bytes.extend(more),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(match wasip2::http::types::http_error_code(&error) {
                    Some(error) => code(&error),
                    None => error.to_debug_string(),
                });
            }
        }
    }
    std::mem::forget((answer, body, stream));
    Ok(bytes)
}

fn code(error: &ErrorCode) -> String {
    format!("{error:?}")
}
