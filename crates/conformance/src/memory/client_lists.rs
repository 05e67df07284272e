//! Clients in the orders of an operator's lists.

use std::cmp::Ordering;

use countersign_domain::client::Client;
use countersign_ports::{ClientListed, ClientOrder, ClientPlace, SortClients, SortedClients, Total};

use super::{Tables, count};

impl Tables {
    pub(super) fn sort_clients(&self, question: &SortClients) -> SortedClients {
        let SortClients { filter, default_access, order, after, limit } = question;
        let is_asked =
            |client: &&Client| filter.asks_for(default_access, client.access.rule.as_ref(), client.origin);
        let mut asked: Vec<(ClientPlace, &Client)> = self
            .clients
            .values()
            .filter(is_asked)
            .map(|client| (self.place_of(client, *order), client))
            .collect();
        let total = Total::of(asked.len());
        asked.sort_by(|(one, _), (other, _)| compare(*order, one, other));
        asked.retain(|(place, _)| {
            after.as_ref().is_none_or(|after| compare(*order, place, after) == Ordering::Greater)
        });
        let more = asked.len() > count(*limit);
        asked.truncate(count(*limit));
        let next = asked.last().filter(|_| more).map(|(place, _)| place.clone());
        let listed = |client: &Client| ClientListed {
            client: client.clone(),
            used_at: self.client_uses.get(&client.id).copied(),
        };
        SortedClients { clients: asked.iter().map(|(_, client)| listed(client)).collect(), next, total }
    }

    fn place_of(&self, client: &Client, order: ClientOrder) -> ClientPlace {
        let used_at = self.client_uses.get(&client.id).copied();
        let at = match order {
            ClientOrder::Name | ClientOrder::LastUse => used_at.unwrap_or(client.created_at),
            ClientOrder::Created => client.created_at,
        };
        ClientPlace { name: client.metadata.name.to_ascii_lowercase(), at, client: client.id }
    }
}

fn compare(order: ClientOrder, one: &ClientPlace, other: &ClientPlace) -> Ordering {
    match order {
        ClientOrder::Name => (&one.name, one.client).cmp(&(&other.name, other.client)),
        ClientOrder::LastUse | ClientOrder::Created => (other.at, other.client).cmp(&(one.at, one.client)),
    }
}
