//! The counters for requests, and a listener that only shows them.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::header;
use actix_web::middleware::DefaultHeaders;
use actix_web::web::{self, Data};
use actix_web::{App, HttpResponse, HttpServer};
use countersign_metrics::{Metrics, Source};

use crate::endpoint::site::metrics::page;
use crate::limits::rate_limit::Limited;
use crate::server::routes;

/// Counters for this server's routes and limits.
pub fn metrics(version: &'static str, source: Box<dyn Source>) -> Metrics {
    Metrics::new(version, &routes::names(), &Limited::NAMES, source)
}

/// Serves `/metrics` on a separate listener, for a network that users and clients cannot reach.
pub fn serve_metrics(metrics: Arc<Metrics>, listener: TcpListener) -> io::Result<Server> {
    let metrics = Data::from(metrics);
    let server = HttpServer::new(move || {
        let show = async |metrics: Data<Metrics>| page(&metrics);
        let resource = web::resource("/metrics").route(routes::read().to(show));
        App::new()
            .app_data(metrics.clone())
            .wrap(DefaultHeaders::new().add((header::CACHE_CONTROL, "no-store")))
            .service(resource.default_service(web::to(HttpResponse::MethodNotAllowed)))
    });
    Ok(server.workers(1).disable_signals().listen(listener)?.run())
}
