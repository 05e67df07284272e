//! What servers count is added up for the charts of the overview, and outlives them.

use countersign_tests::{Request, Server, Wallet, on_both};

use super::{Seat, run_by};

on_both! {
    fn the_charts_add_up_all_servers_and_outlive_them(database) {
        let ada = Wallet::fresh();
        let mut first = run_by(database, &[&ada]).start();
        let second = first.replica();
        let refused = |server: &Server, times: usize| {
            for _ in 0..times {
                server.send(&Request::get("/no-such-page")).expect(404);
            }
        };
        let mut seat = Seat::of(&second, &ada);
        let before = shown(&mut seat, "refusals", "no_such_page");

        refused(&second, 2);
        assert_eq!(shown(&mut seat, "refusals", "no_such_page"), before + 2, "at once, before anything is written");
        refused(&first, 30);
        assert!(first.terminate().success());
        assert_eq!(shown(&mut seat, "refusals", "no_such_page"), before + 32, "the other one wrote when it stopped");

        first.restart();
        refused(&first, 400);
        assert!(first.terminate().success());
        drop(second);
        let third = run_by(database, &[&ada]).start();
        let mut seat = Seat::of(&third, &ada);
        let before = shown(&mut seat, "refusals", "no_such_page");
        assert!(before >= 430, "{before}: counts outlive the servers");
        let took: u64 = ["&lt; 1 ms", "&lt; 10 ms", "&lt; 100 ms", "&lt; 1 s", "&gt; 1 s"]
            .map(|step| shown(&mut seat, "latency", step))
            .iter()
            .sum();
        assert!(took >= 430, "{took}");
        let rows = database.number("SELECT count(*) FROM hour_counts WHERE figure = 'refusals' AND label = 'no_such_page'");
        assert!((1..=2).contains(&rows), "a row for each hour, of which one may have begun meanwhile: {rows}");
    }
}

/// The number that the table below a chart shows for a label; 0 if it shows none.
fn shown(seat: &mut Seat<'_>, chart: &str, label: &str) -> u64 {
    let page = seat.page("/admin");
    let (_, chart) = page.split_once(&format!("id=\"chart-{chart}-heading\"")).unwrap();
    let chart = chart.split("<h2 ").next().unwrap();
    let row = chart.split_once(&format!("<th scope=\"row\">{label}</th><td class=\"num\">"));
    row.map_or(0, |(_, rest)| rest.split_once('<').unwrap().0.parse().unwrap())
}
