//! How much of the hourly budget is left, by what GitHub's replies say.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use http::HeaderMap;

use super::error::{ApiError, header, number, rfc3339};
use crate::limits::BUDGET_RESERVE;

/// The budgets of one identity, by GitHub's name of the resource (`core`, `graphql`).
#[derive(Debug, Default)]
pub(super) struct Budget {
    resources: Mutex<BTreeMap<String, Left>>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    limit: u64,
    remaining: u64,
    /// Unix seconds.
    reset: i64,
}

impl Left {
    /// What reads leave for publishing; a tenth where the whole budget is small, as it is without a
    /// token (60 requests).
    fn reserve(self) -> u64 {
        BUDGET_RESERVE.min(self.limit / 10)
    }
}

impl Budget {
    /// Takes note of what a reply says.
    pub(super) fn note(&self, headers: &HeaderMap) {
        let read = |name| number(headers, name);
        let (Some(limit), Some(remaining), Some(reset)) =
            (read("x-ratelimit-limit"), read("x-ratelimit-remaining"), read("x-ratelimit-reset"))
        else {
            return;
        };
        let (Ok(limit), Ok(remaining)) = (u64::try_from(limit), u64::try_from(remaining)) else {
            return;
        };
        let resource = header(headers, "x-ratelimit-resource").unwrap_or("core");
        let new = Left { limit, remaining, reset };
        let mut resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        let left = resources.entry(resource.to_owned()).or_insert(new);
        if reset > left.reset {
            *left = new;
        } else if reset == left.reset {
            // Replies overtake one another: within one window the budget only shrinks.
            left.remaining = left.remaining.min(remaining);
        }
    }

    /// Refuses a read where only the reserve is left.
    pub(super) fn check(&self, resource: &str, now: DateTime<Utc>) -> Result<(), ApiError> {
        let resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left) = resources.get(resource) else { return Ok(()) };
        match DateTime::from_timestamp(left.reset, 0) {
            Some(reset) if left.remaining < left.reserve() && now < reset => {
                Err(ApiError::RateLimited { until: rfc3339(reset) })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(limit: u64, remaining: u64, reset: i64) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-ratelimit-limit", limit.into());
        headers.insert("x-ratelimit-remaining", remaining.into());
        headers.insert("x-ratelimit-reset", reset.into());
        headers
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn reads_stop_at_the_reserve_until_the_window_ends() {
        let budget = Budget::default();
        assert_eq!(budget.check("core", at(0)), Ok(()));
        budget.note(&reply(5_000, BUDGET_RESERVE, 3_600));
        assert_eq!(budget.check("core", at(0)), Ok(()));
        budget.note(&reply(5_000, BUDGET_RESERVE - 1, 3_600));
        let until = "1970-01-01T01:00:00Z".to_owned();
        assert_eq!(budget.check("core", at(0)), Err(ApiError::RateLimited { until }));
        assert_eq!(budget.check("graphql", at(0)), Ok(()));
        assert_eq!(budget.check("core", at(3_600)), Ok(()));
    }

    #[test]
    fn a_reply_that_was_overtaken_gives_nothing_back() {
        let budget = Budget::default();
        budget.note(&reply(5_000, 10, 3_600));
        budget.note(&reply(5_000, 4_000, 3_600));
        assert!(budget.check("core", at(0)).is_err());
        budget.note(&reply(5_000, 5_000, 7_200));
        assert_eq!(budget.check("core", at(0)), Ok(()));
    }

    #[test]
    fn a_small_budget_keeps_a_tenth() {
        let budget = Budget::default();
        budget.note(&reply(60, 6, 3_600));
        assert_eq!(budget.check("core", at(0)), Ok(()));
        budget.note(&reply(60, 5, 3_600));
        assert!(budget.check("core", at(0)).is_err());
    }
}
