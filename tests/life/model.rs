//! Two hundred events over twenty pull requests, mixed by a seed, against a slow and obvious model.
//!
//! The model keeps, for every sign-off, what was said about it at which commit, and goes through all of
//! them at every event. It knows nothing of jobs, triggers, numbers or retries. At the end each check run
//! and each comment has to be the one that it predicts, and no other may be there.

use std::collections::BTreeMap;

use super::*;
use crate::support::PullState;

const EVENTS: usize = 200;
/// Events that are sent before anything is waited for, each about another pull request.
const AT_ONCE: usize = 4;

/// Who may start a verification: `write` or more, and no bot.
const WRITERS: [&str; 5] = ["al-ice", "be-tty", "ab-both", "co-ra", "ad-min"];
const SIGNERS: [&str; 6] = ["al-ice", "be-tty", "ab-both", "co-ra", "re-ader", "map-keeper[bot]"];
const KINDS: [CommentKind; 3] =
    [CommentKind::IssueComment, CommentKind::Review, CommentKind::ReviewComment];

/// Numbers of a sequence that a seed fixes (Steele's SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len())]
    }
}

/// A sign-off as people see it.
#[derive(Debug, Clone)]
struct SignOff {
    author: &'static str,
    kind: CommentKind,
    ticked: usize,
    edited_by_another: bool,
    /// Deleted, dismissed, or edited into something else.
    gone: bool,
    /// The verdict at each commit at which there was one.
    said: BTreeMap<String, Said>,
    /// The verdict that its comment shows, and the commit.
    shown: Option<(Said, String)>,
    /// Changes of the verdict that were told: from, to.
    told: Vec<(Said, Said)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Approved,
    Rejected,
    NotRequired,
}

impl Said {
    fn word(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Rejected => "REJECTED",
            Self::NotRequired => "NO SIGN-OFF REQUIRED",
        }
    }
}

/// A pull request as people see it.
#[derive(Debug, Clone)]
struct Model {
    number: u64,
    head: String,
    release: bool,
    state: PullState,
    draft: bool,
    signoffs: BTreeMap<u64, SignOff>,
    /// Commits for which an administrator excepted the checklist.
    excepted: Vec<String>,
    /// What the newest check run at each commit says.
    checks: BTreeMap<String, &'static str>,
}

impl Model {
    fn ready(&self) -> bool {
        self.state == PullState::Open && !self.draft
    }

    /// The verdict on a sign-off, from nothing but what stands there.
    fn judge(&self, signoff: &SignOff) -> Said {
        let changes = Changes::of(self.number);
        if changes == Changes::Core {
            return Said::NotRequired;
        }
        let owns = |folder: &str| match (folder, self.release) {
            ("alpha", false) | ("beta", true) => ["al-ice", "ab-both"].contains(&signoff.author),
            _ => ["be-tty", "ab-both"].contains(&signoff.author),
        };
        let owner = changes.folders().iter().all(|folder| owns(folder));
        let full = signoff.ticked == 3 || self.excepted.contains(&self.head);
        if owner && full && !signoff.edited_by_another { Said::Approved } else { Said::Rejected }
    }

    fn say(&mut self, id: u64) {
        let said = self.judge(&self.signoffs[&id]);
        let head = self.head.clone();
        let signoff = self.signoffs.get_mut(&id).unwrap();
        signoff.said.insert(head.clone(), said);
        if said == Said::NotRequired {
            return;
        }
        if let Some((before, _)) = &signoff.shown
            && *before != said
        {
            signoff.told.push((*before, said));
        }
        signoff.shown = Some((said, head));
    }

    /// Whether a sign-off is one that people's rights make count.
    fn counts(&self, signoff: &SignOff) -> bool {
        !signoff.gone
            && signoff.author != "map-keeper[bot]"
            && (WRITERS.contains(&signoff.author) || signoff.said.contains_key(&self.head))
    }

    /// Something happened that makes the server look: at these sign-offs afresh, at those that count
    /// and have no verdict at this head, and at the check run.
    fn looked_at(&mut self, afresh: impl Fn(u64, &SignOff) -> bool) {
        let ids: Vec<u64> = self.signoffs.keys().copied().collect();
        for id in ids.iter().copied() {
            let signoff = &self.signoffs[&id];
            let stands = !signoff.gone && signoff.author != "map-keeper[bot]";
            let asked = stands && afresh(id, signoff);
            let new = self.counts(signoff) && !signoff.said.contains_key(&self.head);
            if asked || new {
                self.say(id);
            }
        }
        let here: Vec<Said> = ids
            .iter()
            .map(|id| &self.signoffs[id])
            .filter(|signoff| self.counts(signoff))
            .filter_map(|signoff| signoff.said.get(&self.head).copied())
            .collect();
        let required = Changes::of(self.number) != Changes::Core;
        let word = if here.iter().any(|said| *said != Said::Rejected) || !required {
            "success"
        } else if here.is_empty() {
            "in_progress"
        } else {
            "failure"
        };
        self.checks.insert(self.head.clone(), word);
    }
}

/// The life, the model of it, and what comes next.
struct Play {
    life: Life,
    dice: Dice,
    pulls: BTreeMap<u64, Model>,
    next_id: u64,
    sent: Vec<Value>,
}

impl Play {
    async fn begin(seed: u64) -> Self {
        let life = Life::start(whole_atlas()).await;
        let pulls = PULLS.map(|number| {
            let model = Model {
                number,
                head: life.world().pull_of(number).head_sha.clone(),
                release: false,
                state: PullState::Open,
                draft: false,
                signoffs: BTreeMap::new(),
                excepted: Vec::new(),
                checks: BTreeMap::new(),
            };
            (number, model)
        });
        let pulls = pulls.collect();
        Self { life, dice: Dice(seed), pulls, next_id: 1_000, sent: Vec::new() }
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// One of the sign-offs that are still there.
    fn a_sign_off(&mut self, pull: u64) -> Option<u64> {
        let standing = self.pulls[&pull].signoffs.iter().filter(|(_, signoff)| !signoff.gone);
        let ids: Vec<u64> = standing.map(|(id, _)| *id).collect();
        if ids.is_empty() { None } else { Some(self.dice.of(&ids)) }
    }

    /// Something happens on a pull request: the world changes, the model changes, and the delivery
    /// about it is given.
    fn step(&mut self, pull: u64) -> Value {
        match self.dice.roll(20) {
            0..=5 => self.signs(pull),
            6..=7 => self.edits(pull),
            8 => self.meddles(pull),
            9 => self.takes_away(pull),
            10..=11 => self.pushes(pull),
            12 => self.turns(pull),
            13 => self.closes(pull),
            14 => self.retargets(pull),
            15 => self.excepts(pull),
            16 => self.asks_again(pull),
            17 => self.commands(pull),
            18 => self.reruns(pull),
            _ => self.talks(pull),
        }
    }

    fn model(&mut self, pull: u64) -> &mut Model {
        self.pulls.get_mut(&pull).unwrap()
    }

    fn signs(&mut self, pull: u64) -> Value {
        let (id, kind) = (self.id(), self.dice.of(&KINDS));
        let (author, ticked) = (self.dice.of(&SIGNERS), self.dice.of(&[3, 3, 3, 2]));
        let asked = self.life.posted(comment(id, pull, author, kind, &form(ticked)));
        let model = self.model(pull);
        let (said, told) = (BTreeMap::new(), Vec::new());
        let signoff = SignOff {
            author,
            kind,
            ticked,
            edited_by_another: false,
            gone: false,
            said,
            shown: None,
            told,
        };
        model.signoffs.insert(id, signoff);
        if model.ready() && WRITERS.contains(&author) {
            model.looked_at(|one, _| one == id);
        }
        asked
    }

    fn edits(&mut self, pull: u64) -> Value {
        let Some(id) = self.a_sign_off(pull) else { return self.talks(pull) };
        let signoff = self.pulls[&pull].signoffs[&id].clone();
        let withdraws = self.dice.roll(5) == 0;
        let ticked = 5 - signoff.ticked;
        let body = if withdraws { "I have to look again.".to_owned() } else { form(ticked) };
        self.life.world().edit(id, &body, signoff.author).unwrap();
        let model = self.model(pull);
        let edited = model.signoffs.get_mut(&id).unwrap();
        (edited.ticked, edited.gone, edited.edited_by_another) = (ticked, withdraws, false);
        let writer = WRITERS.contains(&signoff.author);
        let person = signoff.author != "map-keeper[bot]";
        // Taking words away is heard of anybody, bots too; saying them is a wish.
        if model.ready() && (writer && person || withdraws) {
            model.looked_at(|one, _| one == id && writer);
        }
        json!({ "event": event_of(signoff.kind), "action": "edited", "comment": id, "sender": signoff.author })
    }

    /// An administrator ticks a box in somebody else's sign-off.
    fn meddles(&mut self, pull: u64) -> Value {
        let Some(id) = self.a_sign_off(pull) else { return self.talks(pull) };
        let kind = self.pulls[&pull].signoffs[&id].kind;
        self.life.world().edit(id, &form(3), "ad-min").unwrap();
        let model = self.model(pull);
        let edited = model.signoffs.get_mut(&id).unwrap();
        (edited.ticked, edited.edited_by_another) = (3, true);
        if model.ready() {
            model.looked_at(|one, _| one == id);
        }
        json!({ "event": event_of(kind), "action": "edited", "comment": id, "sender": "ad-min" })
    }

    fn takes_away(&mut self, pull: u64) -> Value {
        let Some(id) = self.a_sign_off(pull) else { return self.talks(pull) };
        let kind = self.pulls[&pull].signoffs[&id].kind;
        let action = if kind == CommentKind::Review {
            self.life.world().comments.get_mut(&id).unwrap().state = "DISMISSED".to_owned();
            "dismissed"
        } else {
            self.life.stand_in.delete(id);
            "deleted"
        };
        let model = self.model(pull);
        model.signoffs.get_mut(&id).unwrap().gone = true;
        if model.ready() {
            model.looked_at(|_, _| false);
        }
        json!({ "event": event_of(kind), "action": action, "comment": id, "sender": "ad-min" })
    }

    /// What any change of head, base or state makes the server do.
    fn changed(&mut self, pull: u64, action: &str) -> Value {
        let model = self.model(pull);
        if model.ready() {
            let head = model.head.clone();
            model.looked_at(|_, signoff| {
                WRITERS.contains(&signoff.author) || signoff.said.contains_key(&head)
            });
        }
        json!({ "event": "pull_request", "action": action, "pull": pull })
    }

    fn pushes(&mut self, pull: u64) -> Value {
        let id = format!("{pull}-{}", self.dice.roll(3) + 1);
        let head = self.life.world().push_to(pull, &id).unwrap();
        self.model(pull).head = head;
        self.changed(pull, "synchronize")
    }

    fn turns(&mut self, pull: u64) -> Value {
        let model = self.model(pull);
        model.draft = !model.draft;
        let draft = model.draft;
        self.life.world().pull_mut_of(pull).draft = draft;
        if draft {
            return json!({ "event": "pull_request", "action": "converted_to_draft", "pull": pull });
        }
        self.changed(pull, "ready_for_review")
    }

    fn closes(&mut self, pull: u64) -> Value {
        let merges = self.dice.roll(8) == 0;
        let model = self.model(pull);
        let (state, action) = match model.state {
            PullState::Open if merges => (PullState::Merged, "closed"),
            PullState::Open => (PullState::Closed, "closed"),
            PullState::Closed => (PullState::Open, "reopened"),
            PullState::Merged => return self.talks(pull),
        };
        model.state = state;
        if state == PullState::Merged {
            self.life.world().merge(pull).unwrap();
        } else {
            self.life.world().pull_mut_of(pull).state = state;
        }
        self.changed(pull, action)
    }

    fn retargets(&mut self, pull: u64) -> Value {
        if self.pulls[&pull].state == PullState::Merged {
            return self.talks(pull);
        }
        let model = self.model(pull);
        model.release = !model.release;
        let base = if model.release { "release" } else { "main" };
        self.life.world().pull_mut_of(pull).base_ref = base.to_owned();
        let mut asked = self.changed(pull, "edited");
        asked["changes"] = json!({ "base": { "ref": { "from": "…" } } });
        asked
    }

    fn excepts(&mut self, pull: u64) -> Value {
        let head = self.pulls[&pull].head.clone();
        let author = self.dice.of(&["ad-min", "ad-min", "al-ice", "re-ader"]);
        let body =
            format!("/countersign override checklist {} the proof is at the printer", &head[..12]);
        let id = self.id();
        let asked = self.life.posted(comment(id, pull, author, CommentKind::IssueComment, &body));
        let model = self.model(pull);
        if author == "ad-min" {
            model.excepted.push(head);
        }
        self.wished(pull, author);
        asked
    }

    fn commands(&mut self, pull: u64) -> Value {
        let author = self.dice.of(&["co-ra", "re-ader", "map-keeper[bot]"]);
        let id = self.id();
        let spec = comment(id, pull, author, CommentKind::IssueComment, "/use 38");
        let asked = self.life.posted(spec);
        self.wished(pull, author);
        asked
    }

    /// A command: what counts is looked at afresh, where its author may wish so.
    fn wished(&mut self, pull: u64, author: &str) {
        let model = self.model(pull);
        if model.ready() && WRITERS.contains(&author) {
            let head = model.head.clone();
            model.looked_at(|_, signoff| {
                WRITERS.contains(&signoff.author) || signoff.said.contains_key(&head)
            });
        }
    }

    fn asks_again(&mut self, pull: u64) -> Value {
        let author = self.dice.of(&["be-tty", "re-ader", "map-keeper[bot]"]);
        let id = self.id();
        let spec = comment(id, pull, author, CommentKind::IssueComment, "/countersign verify");
        let asked = self.life.posted(spec);
        if WRITERS.contains(&author) {
            self.model(pull).looked_at(|_, _| true);
        }
        asked
    }

    fn reruns(&mut self, pull: u64) -> Value {
        let newest = {
            let world = self.life.world();
            let head = &world.pull_of(pull).head_sha;
            let mut runs = world.check_runs.values();
            runs.rfind(|run| run.app == APP_SLUG && run.head_sha == *head).map(|run| run.id)
        };
        let Some(run) = newest else { return self.talks(pull) };
        let sender = self.dice.of(&["co-ra", "vi-sitor"]);
        if WRITERS.contains(&sender) {
            self.model(pull).looked_at(|_, _| true);
        }
        json!({ "event": "check_run", "action": "rerequested", "check_run": run, "sender": sender })
    }

    fn talks(&mut self, pull: u64) -> Value {
        if self.dice.roll(3) == 0 && !self.sent.is_empty() {
            // GitHub delivers something once more: the same GUID, long done.
            let sent = self.sent.clone();
            let again = self.dice.roll(sent.len());
            return sent[again].clone();
        }
        let id = self.id();
        self.life.posted(comment(id, pull, "be-tty", CommentKind::IssueComment, "Nice map."))
    }

    /// Everything that was predicted is there, and nothing else.
    fn compare(&self, seed: u64) {
        for (number, model) in &self.pulls {
            let about = format!("seed {seed}, pull request {number}: {model:#?}");
            for (commit, word) in &model.checks {
                let runs = self.life.runs_at(commit);
                assert_eq!(
                    runs.last().map(String::as_str),
                    Some(*word),
                    "{commit}: {runs:?} {about}"
                );
                let open = runs.iter().filter(|run| *run == "in_progress").count();
                assert_eq!(open, usize::from(*word == "in_progress"), "{commit}: {runs:?} {about}");
            }
            let mut comments = self.life.comments(*number);
            for (id, signoff) in &model.signoffs {
                let kind = match signoff.kind {
                    CommentKind::IssueComment => "issue_comment",
                    CommentKind::Review => "review",
                    CommentKind::ReviewComment => "review_comment",
                };
                if let Some((said, commit)) = &signoff.shown {
                    let marker = format!("<!-- countersign signoff={kind}/{id} -->\n");
                    let at = comments.iter().position(|text| text.starts_with(&marker));
                    let text = comments.remove(at.unwrap_or_else(|| panic!("{id}: {about}")));
                    let wanted = format!("**{}", said.word());
                    assert!(text.lines().nth(1).unwrap().contains(&wanted), "{text} {about}");
                    assert!(
                        text.contains(&format!("Assessed commit: `{commit}`.")),
                        "{text} {about}"
                    );
                }
                for (from, to) in &signoff.told {
                    let marker = format!("<!-- countersign change={kind}/{id} ");
                    let words = (format!("**{}**", from.word()), format!("→ **{}**", to.word()));
                    let at = comments.iter().position(|text| {
                        text.starts_with(&marker)
                            && text.contains(&words.0)
                            && text.contains(&words.1)
                    });
                    comments.remove(
                        at.unwrap_or_else(|| panic!("{id} {words:?}: {comments:#?} {about}")),
                    );
                }
            }
            comments.retain(|text| !text.starts_with("<!-- countersign greeting -->"));
            assert_eq!(comments, [""; 0], "nobody expected these; {about}");
        }
    }
}

async fn play(seed: u64) {
    let mut play = Play::begin(seed).await;
    let mut happened = 0;
    while happened < EVENTS {
        let mut busy = Vec::new();
        let mut deliveries = Vec::new();
        for _ in 0..=play.dice.roll(AT_ONCE) {
            let pull = 101 + play.dice.roll(20) as u64;
            if !busy.contains(&pull) {
                busy.push(pull);
                let mut asked = play.step(pull);
                let guid = asked["guid"].as_str().map(str::to_owned);
                let guid = guid.unwrap_or_else(|| format!("{seed}-{happened}-{pull}"));
                asked["guid"] = json!(guid);
                play.sent.push(asked.clone());
                deliveries.push(asked);
            }
        }
        happened += deliveries.len();
        futures_util::future::join_all(
            deliveries.into_iter().map(|asked| play.life.deliver(asked)),
        )
        .await;
        play.life.server.until_idle().await;
    }
    play.compare(seed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_mixed_lives_end_as_predicted() {
    // Two at once: each has a server and a repository of its own.
    for seeds in [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]] {
        futures_util::future::join_all(seeds.map(play)).await;
    }
}
