//! The charts of the overview, and the dates beside keys.

use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_ports::{AddHourCounts, DeskStore, HourCount, Replica};
use countersign_usecases::upkeep::note_replica::note_replica;

use super::*;

/// The names and numbers in the table below a chart, without the line of its columns. `None` if there is no table.
fn table<'a>(page: &'a str, chart: &str) -> Option<Vec<(&'a str, u64)>> {
    let (_, chart) = page.split_once(&format!("<h2 id=\"chart-{chart}-heading\">")).unwrap();
    let chart = chart.split("<h2 ").next().unwrap();
    let (_, rows) = chart.split_once("<tbody>")?;
    let rows = rows.split_once("</tbody>").unwrap().0.split("<th scope=\"row\">").skip(1);
    let row = |row: &'a str| {
        let (name, rest) = row.split_once("</th><td class=\"num\">").unwrap();
        (name, rest.split_once('<').unwrap().0.parse().unwrap())
    };
    Some(rows.map(row).collect())
}

/// Another server adds these counts.
async fn add(site: &Site, counts: Vec<HourCount>) {
    let now = site.context.clock.now();
    let replica = Replica {
        id: [7; 16],
        version: "1".to_owned(),
        started_at: now,
        seen_at: now,
        settings: String::new(),
        untrusted_proxy: None,
    };
    let past = countersign_conformance::fixtures::past(now);
    note_replica(&site.context, past, replica.clone()).await.unwrap();
    let command = AddHourCounts { replica: replica.id, batch: 1, counts };
    assert!(site.storage.add_hour_counts(command).await.unwrap());
}

#[actix_web::test]
async fn the_charts_show_the_last_24_hours_of_all_servers_and_what_is_not_written_yet() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let page = ada.get("/admin").await.body;
    assert_eq!((table(&page, "refusals"), table(&page, "tokens")), (None, None));
    assert_eq!(page.matches("Nothing was counted yet.").count(), 3, "no sign-in is sealed either: {page}");

    let now = Hour::of(site.context.clock.now());
    let of = |back: u16, figure, label: &str, count| HourCount {
        hour: now.back(back),
        figure,
        label: label.to_owned(),
        count,
    };
    let counts = vec![
        of(0, Figure::Refusals, "code", 2),
        of(23, Figure::Refusals, "code", 5),
        of(24, Figure::Refusals, "code", 1_000),
        of(1, Figure::Refusals, "a reason of a newer release", 3),
        of(1, Figure::Refusals, "no_such_page", 40),
        of(2, Figure::Tokens, "refresh_token", 9),
        of(2, Figure::Latency, "< 1 s", 60),
    ];
    add(&site, counts).await;
    assert_eq!(Browser::new(&site).get("/no-such-page").await.status, 404);

    let page = ada.get("/admin").await.body;
    let refusals = [("code", 7), ("no_such_page", 41), ("a reason of a newer release", 3)];
    assert_eq!(table(&page, "refusals").unwrap(), refusals);
    assert_eq!(table(&page, "tokens").unwrap(), [("refresh_token", 9)]);
    let latency = table(&page, "latency").unwrap();
    let steps: Vec<_> = latency.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, ["&lt; 1 ms", "&lt; 10 ms", "&lt; 100 ms", "&lt; 1 s", "&gt; 1 s"]);
    assert!(latency[3].1 >= 60, "{latency:?}");

    site.clock.advance(Duration::HOUR);
    let page = ada.get("/admin").await.body;
    assert_eq!(table(&page, "refusals").unwrap()[0], ("code", 2));
}

#[actix_web::test]
async fn an_active_key_shows_when_it_is_replaced_as_on_the_overview() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let from = (site.context.clock.now() + Duration::DAY).date();
    for path in ["/admin", "/admin/keys"] {
        let page = ada.get(path).await.body;
        let (_, said) = page.split_once(">Replaced <time datetime=\"").unwrap();
        assert!(said.starts_with(&from.to_string()), "{path}: {said}");
        assert_eq!(page.matches(">Replaced <time").count(), 1, "{path}");
    }
}
