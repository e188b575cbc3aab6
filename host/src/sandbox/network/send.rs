//! One request: admitted, connected, sent, and its answer's head received.

use std::pin::pin;
use std::sync::Arc;

use http::header::HOST;
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use tokio::time::timeout;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::body::{Received, Sent};
use super::policy::{Destination, Policy};
use super::{FIELDS, Sending, connect};

/// How many header fields an answer may have.
const MOST_FIELDS: usize = 100;

/// Sends a request; returns its answer, and what moves the rest of it, which holds the connection.
pub(super) async fn send(
    policy: Arc<Policy>,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<(Response<WasiBody>, Sending<()>), Error> {
    let destination = Destination::of(request.uri()).ok_or(Error::HttpRequestUriInvalid)?;
    let permit = policy.admit(&destination)?;
    // A tunnel would lead to hosts that nobody checks.
    if request.method() == Method::CONNECT {
        return Err(Error::HttpRequestMethodInvalid);
    }
    let request = outgoing(request, &destination, &policy)?;
    let patience = policy.patience(options.connect_timeout);
    let stream = timeout(patience, connect::connect(&policy, &destination))
        .await
        .map_err(|_| Error::ConnectionTimeout)??;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(FIELDS)
        .max_headers(MOST_FIELDS)
        .handshake(TokioIo::new(stream))
        .await?;
    // Nothing goes over the connection unless somebody polls it.
    let mut connection = Box::pin(async move {
        let _permit = permit;
        connection.await
    });
    let mut is_over = false;
    let patience = policy.patience(options.first_byte_timeout);
    let answer = timeout(patience, async {
        let mut answer = pin!(sender.send_request(request));
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            _ = &mut connection => is_over = true,
        }
        // The answer knows best why the connection ended.
        answer.await
    });
    let answer = match answer.await {
        Err(_) => return Err(Error::ConnectionReadTimeout),
        Ok(Err(_)) if policy.is_used_up() => {
            return Err(Error::HttpRequestBodySize(Some(policy.most_bytes())));
        }
        Ok(answer) => answer?,
    };
    let patience = policy.patience(options.between_bytes_timeout);
    let answer = answer.map(|body| Received::new(body, policy, patience).boxed_unsync());
    let rest: Sending<()> = Box::new(async move {
        if is_over {
            return Ok(());
        }
        Ok(connection.await?)
    });
    Ok((answer, rest))
}

/// The request as it goes over the connection: the path alone, and the host that was checked.
fn outgoing(
    mut request: Request<WasiBody>,
    destination: &Destination,
    policy: &Arc<Policy>,
) -> Result<Request<Sent>, Error> {
    let path = request.uri().path_and_query().map_or("/", |it| it.as_str());
    *request.uri_mut() = Uri::builder()
        .path_and_query(path)
        .build()
        .map_err(|_| Error::HttpRequestUriInvalid)?;
    let host = HeaderValue::try_from(destination.host_field())
        .map_err(|_| Error::HttpRequestUriInvalid)?;
    request.headers_mut().insert(HOST, host);
    Ok(request.map(|body| Sent::new(body, Arc::clone(policy))))
}
