use super::*;
use crate::client_field::DisplayMetadata;
use crate::registration::{JudgedMetadata, RequestedMetadata, Rules, judge as register};
use crate::scopes::catalog::Catalog;

/// A pairwise client with these redirect URIs, and what else it says.
fn requested(
    redirect_uris: &[&str],
    sector: Option<&str>,
    grant_types: &[&str],
    notified: Option<&str>,
) -> RequestedMetadata {
    RequestedMetadata {
        client_name: Some("Photo Album".to_owned()),
        redirect_uris: Some(redirect_uris.iter().map(|uri| (*uri).to_owned()).collect()),
        grant_types: Some(grant_types.iter().map(|name| (*name).to_owned()).collect()),
        backchannel_logout_uri: notified.map(str::to_owned),
        token_endpoint_auth_method: Some("none".to_owned()),
        display: DisplayMetadata {
            subject_type: Some(PAIRWISE.to_owned()),
            sector_identifier_uri: sector.map(str::to_owned),
            ..DisplayMetadata::default()
        },
        ..RequestedMetadata::default()
    }
}

fn judged(requested: RequestedMetadata, origin: ClientOrigin) -> Result<JudgedMetadata, &'static str> {
    register(requested, Rules::of(origin, &Catalog::NONE)).map_err(|rejected| rejected.field())
}

const CODE: [&str; 1] = ["authorization_code"];
const LIST: Option<&str> = Some("https://photos.example/sector.json");

#[test]
fn the_sector_is_the_host_of_the_list_or_the_one_host_of_the_redirect_uris() {
    let of = |uris: &[&str], list| {
        let metadata = judged(requested(uris, list, &CODE, None), ClientOrigin::Operator)?.metadata;
        Ok(Sector::host_of(&metadata))
    };
    let host = |host: &str| Ok(Some(host.to_owned()));
    let (one, another) = ("https://photos.example/cb", "https://pics.example/cb");
    let (loopback, app) = ("http://127.0.0.1/cb", "com.example.photos:/cb");
    assert_eq!(
        of(&[one, "https://photos.example:8443/2"], None),
        host("photos.example"),
        "whatever the port"
    );
    assert_eq!(of(&[another], LIST), host("photos.example"));
    assert_eq!(of(&[one, another, loopback, app], LIST), host("photos.example"));
    assert_eq!(of(&[loopback, app, "http://[::1]:7/cb", "http://localhost/cb"], None), Ok(None));
    for several in [&[one, another][..], &[one, loopback], &[one, app]] {
        assert_eq!(of(several, None), Err("sector_identifier_uri"), "{several:?}");
    }
    for list in ["http://photos.example/sector.json", "ftp://photos.example/", "photos.example", ""] {
        assert_eq!(of(&[one], Some(list)), Err("sector_identifier_uri"), "{list}");
    }
}

#[test]
fn a_client_that_no_operator_registered_finds_the_sub_of_no_other_host() {
    let (site, app) = ("https://photos.example/cb", "com.example.photos:/cb");
    let device = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"];
    let elsewhere = Some("https://spy.example/logout");
    for (requested, field) in [
        (requested(&[app], LIST, &CODE, None), "sector_identifier_uri"),
        (requested(&[site], None, &device, None), "grant_types"),
        (requested(&[site], LIST, &device, None), "grant_types"),
        (requested(&[], LIST, &device[1..], None), "grant_types"),
        (requested(&[site], None, &CODE, elsewhere), "backchannel_logout_uri"),
        (requested(&[site], LIST, &CODE, elsewhere), "backchannel_logout_uri"),
    ] {
        for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Document] {
            assert_eq!(judged(requested.clone(), origin).err(), Some(field), "{requested:?}");
        }
        assert!(judged(requested, ClientOrigin::Operator).is_ok());
    }
    for requested in [
        requested(&[site], None, &CODE, Some("https://photos.example/logout")),
        requested(&[app], None, &device, elsewhere),
        requested(&[], None, &device[1..], elsewhere),
    ] {
        assert!(judged(requested, ClientOrigin::SelfRegistered).is_ok());
    }
}

#[test]
fn another_subject_type_is_refused_by_name() {
    for kind in ["Pairwise", "private", ""] {
        let mut requested = requested(&["https://photos.example/cb"], None, &CODE, None);
        requested.display.subject_type = Some(kind.to_owned());
        assert_eq!(judged(requested, ClientOrigin::SelfRegistered).err(), Some("subject_type"));
    }
}

#[test]
fn a_list_must_have_every_redirect_uri_byte_for_byte() {
    let uris = ["https://photos.example/cb", "https://pics.example/cb"]
        .map(|uri| RedirectUri::from_trusted(uri.to_owned()));
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let both = list(&["https://other.example/", "https://pics.example/cb", "https://photos.example/cb"]);
    assert_eq!(judge_list(&both, &uris), Ok(()));
    let spelled = list(&["https://photos.example/cb", "https://pics.example/cb/"]);
    assert_eq!(judge_list(&spelled, &uris), Err(SectorRejected::Lacks(1)));
    assert_eq!(judge_list(&[], &uris), Err(SectorRejected::Lacks(0)));
}
