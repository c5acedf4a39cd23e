//! The greeting: read back as Markdown, with the words of the built-in profile.

use std::sync::Arc;

use countersign::github::Client;
use countersign::profile::{Diagnostic, Greeting, builtin};
use countersign::rules::RuleSet;
use countersign::signoff::{Place, Reason};
use countersign::sources::Reader;
use countersign::sources::live::Live;
use countersign::verdict::{GREETING_MARKER, Guide, Signers, greeting};
use countersign::verify::invitation;
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options as Markdown, Parser, Tag, TagEnd};

use crate::support::{Case, Fault, Options, PERSONAL_TOKEN, StandIn};

const LIMIT: usize = 65_536;

fn rules() -> RuleSet {
    RuleSet::from_files("inferencex", &builtin("inferencex").unwrap()).unwrap()
}

fn words() -> Greeting {
    rules().profile.greeting.unwrap()
}

const TEMPLATE: &str = "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n\
    - [ ] Verified that this passes evals, see ```x```\n- [ ] Verified b\n- [ ] Verified c\n\n\
    ### Additional detail section:\n- insert any additional info here\n\n\
    Signed: `FILL_IN_GITHUB_USERNAME`";

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn guide() -> Guide {
    Guide {
        number: 12,
        signers: vec![
            Signers {
                paths: owned(&["configs/a.yaml", "b", "c", "d", "e"]),
                owners: owned(&["@nv-ada", "@acme/core"]),
            },
            Signers { paths: owned(&["MODELS.md"]), owners: owned(&["@amd-noor"]) },
        ],
        codeowners: ".github/CODEOWNERS".into(),
        codeowners_url: Some("https://github.example/acme/bench/blob/1/.github/CODEOWNERS".into()),
        template: TEMPLATE.into(),
        checklist: "docs/CHECKLIST.md".into(),
        checklist_url: Some("https://github.example/acme/bench/blob/1/docs/CHECKLIST.md".into()),
        phrase: "As a PR reviewer and CODEOWNER".into(),
    }
}

/// What a Markdown document shows.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    fences: Vec<String>,
    items: usize,
    html: Vec<String>,
    links: usize,
    calls: usize,
    images: usize,
    headings: usize,
}

fn shown(markdown: &str) -> Shown {
    let mut shown = Shown::default();
    let mut block: Option<String> = None;
    let options = Markdown::ENABLE_TASKLISTS | Markdown::ENABLE_TABLES | Markdown::ENABLE_GFM;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => shown.fences.extend(block.take()),
            Event::Start(Tag::Item) => shown.items += 1,
            Event::Start(Tag::Link { .. }) => shown.links += 1,
            Event::Start(Tag::Image { .. }) => shown.images += 1,
            Event::Start(Tag::Heading { .. }) => shown.headings += 1,
            Event::Html(html) | Event::InlineHtml(html) => {
                shown.html.extend(html.lines().map(str::to_owned));
            }
            Event::Text(text) => match &mut block {
                Some(block) => block.push_str(&text),
                None => shown.calls += text.matches('@').count(),
            },
            _ => {}
        }
    }
    shown
}

#[test]
fn it_names_who_can_sign_and_gives_the_checklist_to_copy() {
    let text = greeting(&words(), &guide());
    assert_eq!(text.lines().next(), Some(GREETING_MARKER));
    let (open, fold) = text.split_once("<details>").unwrap();
    for line in [
        "\n\n- `configs/a.yaml`, `b`, `c` and 2 more needs one of `@nv-ada`, `@acme/core`\n",
        "\n- `MODELS.md` needs one of `@amd-noor`\n\n",
        "[`docs/CHECKLIST.md`](https://github.example/acme/bench/blob/1/docs/CHECKLIST.md)",
        "`full-sweep-fail-fast`",
        "`full-sweep-enabled`",
        "`non-canary-full-sweep-enabled`",
        "`/use <run_id>`",
        "`/countersign verify`",
    ] {
        assert!(open.contains(line), "{line} is not in {open}");
    }
    assert!(fold.starts_with("\n<summary>中文</summary>\n\n感谢"), "{fold}");
    assert!(fold.contains("- `MODELS.md`：需要 `@amd-noor` 其中一位\n"), "{fold}");
    let shown = shown(&text);
    assert_eq!(shown.fences, [format!("{TEMPLATE}\n")]);
    assert_eq!((shown.calls, shown.images, shown.headings), (0, 0, 0), "nobody is called");
    assert_eq!(
        shown.html,
        [GREETING_MARKER, "<details>", "<summary>中文</summary>", "</details>"],
        "one fold"
    );
}

/// What people do with it: copy all of it, the fence with its marks, or what is in the fence.
#[test]
fn it_is_no_sign_off_itself_until_somebody_fills_it_in() {
    let reader = rules().profile.reader().unwrap();
    let place = Place::File { path: "copied".to_owned() };
    let parse = |body: &str| reader.parse(body, &place);
    let text = greeting(&words(), &guide());
    let refused = parse(&text).unwrap_err();
    assert_eq!((refused.reason, refused.near), (Reason::CodeSpan, false));
    let fence = &text[text.find("\n````\n").unwrap()..text.rfind("\n````\n").unwrap() + 6];
    assert_eq!(parse(fence).unwrap_err().reason, Reason::TemplateShown);
    // Filled in with everything around it, it says what to remove.
    let ticked = text.replace("- [ ] Verified", "- [x] Verified");
    let refused = parse(&ticked).unwrap_err();
    assert_eq!((refused.reason, refused.near), (Reason::CodeBlock, true));
    assert!(refused.line.is_some());
    assert_eq!(parse(&shown(&text).fences[0].replace("[ ]", "[x]")).unwrap().items.len(), 3);
}

#[test]
fn what_is_too_long_is_linked_or_counted() {
    let long = Guide { template: format!("{TEMPLATE}\n{}", "x".repeat(70_000)), ..guide() };
    let text = greeting(&words(), &long);
    assert!(text.encode_utf16().count() <= LIMIT);
    assert!(shown(&text).fences.is_empty());
    assert!(text.contains("needs one of") && text.contains("中文"), "everything else stands");

    let one = Signers { paths: owned(&["a"]), owners: owned(&["@nv-ada"; 20]) };
    let many = Guide { signers: vec![one; 30], ..guide() };
    let text = greeting(&words(), &many);
    assert!(text.contains("- and 22 more\n"), "{text}");
    assert!(text.contains("`@nv-ada` and 12 more\n"), "{text}");
    assert_eq!(text.matches("needs one of").count(), 8);

    let nobody = greeting(&words(), &Guide { signers: Vec::new(), ..guide() });
    assert!(nobody.contains("\n\n- [`.github/CODEOWNERS`](https://"), "{nobody}");
}

#[test]
fn names_and_paths_stay_values() {
    let expected = shown(&greeting(&words(), &guide()));
    for hostile in [
        "@org/team @all",
        "`@all`",
        "x\n\n## ✅✅✅ **APPROVED** ✅✅✅\n",
        "</details><h1>x",
        "<!-- countersign signoff=issue_comment/11 -->",
        "![x](https://evil.example/x.png)",
        "[x](https://evil.example)",
        "\n```\n@all",
        "- [x] a",
        "",
    ] {
        let mut guide = guide();
        for group in &mut guide.signers {
            group.paths.iter_mut().chain(&mut group.owners).for_each(|v| *v = hostile.to_owned());
        }
        (guide.codeowners, guide.checklist) = (hostile.to_owned(), hostile.to_owned());
        guide.phrase = hostile.to_owned();
        let text = greeting(&words(), &guide);
        assert_eq!(shown(&text), expected, "{hostile:?}\n{text}");
        assert_eq!(text.matches("<!-- countersign").count(), 1, "{hostile:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn github_takes_it_whatever_is_in_it(
        template in 0..80_000_usize, ticks in 0..200_usize, groups in 0..60_usize,
        paths in 0..20_usize, length in 0..2_000_usize,
    ) {
        let value = "😀`".repeat(length);
        let group = Signers { paths: vec![value.clone(); paths], owners: vec![value; 10] };
        let template = format!("{}\n{}", "`".repeat(ticks), "- [ ] x\n".repeat(template / 8));
        let guide = Guide { template: template.clone(), signers: vec![group; groups], ..guide() };
        let text = greeting(&words(), &guide);
        prop_assert!(text.encode_utf16().count() <= LIMIT);
        prop_assert!(text.starts_with(GREETING_MARKER));
        let fences = shown(&text).fences;
        prop_assert!(fences.len() <= 1);
        prop_assert!(fences.iter().all(|fence| fence.trim_end() == template.trim_end()));
    }
}

fn broken(path: &str, from: &str, to: &str) -> Vec<String> {
    let mut files = builtin("inferencex").unwrap();
    assert_eq!(files[path].matches(from).count(), 1, "{from}");
    let text = files[path].replace(from, to);
    files.insert(path.to_owned(), text);
    RuleSet::from_files("inferencex", &files)
        .unwrap_err()
        .iter()
        .map(Diagnostic::to_string)
        .collect()
}

/// 1-based line and column of a text in a built-in file.
fn place(path: &str, text: &str) -> String {
    let files = builtin("inferencex").unwrap();
    let before = &files[path][..files[path].find(text).unwrap()];
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    format!("{path}:{}:{column}", before.matches('\n').count() + 1)
}

#[test]
fn mistakes_in_its_words_are_reported_at_their_place() {
    let (english, chinese) = ("greeting.en.md", "greeting.zh.md");
    let at = place(english, "checklist }}, as");
    assert_eq!(
        broken(english, "{{ checklist }}", "{{ checklst }}"),
        [format!("{at}: nothing is called `checklst` here; did you mean `checklist`?")]
    );
    let at = place(chinese, "phrase }}");
    let found = broken(chinese, "{{ phrase }}", "{{ phrase | upper }}");
    assert!(
        found[0].starts_with(&format!("{at}: nothing is called `phrase | upper` here")),
        "{found:?}"
    );
    let at = place(english, "{{ phrase");
    assert_eq!(
        broken(english, "{{ phrase }}", "{% if x %}"),
        [format!("{at}: there are no statements and comments here, only `{{{{ name }}}}`")]
    );
    let at = place(english, "template }}");
    assert_eq!(
        broken(english, "{{ template }}", "  {{ template }}"),
        [format!("{}: `template` is a block and has a line of its own", at.replace(":4", ":6"))]
    );
    assert_eq!(
        broken(english, "{{ template }}", ""),
        [format!("{english}:1:1: the first language says nothing of `{{{{ template }}}}`")]
    );
    let yaml = "profile.yaml";
    let at = place(yaml, "count }} more");
    assert_eq!(
        broken(yaml, "and {{ count }} more", "and {{ conut }} more"),
        [format!("{at}: nothing is called `conut` here; did you mean `count`?")]
    );
    let at = place(yaml, "greeting.zh.md");
    let found = broken(yaml, "greeting.zh.md", "greeting.fr.md");
    assert!(found[0].starts_with(&format!("{at}: there is no file `greeting.fr.md`")), "{found:?}");
    let at = place(yaml, "8\n  languages");
    assert_eq!(
        broken(yaml, "signers_shown: 8", "signers_shown: 0"),
        [format!("{at}: `signers_shown` is a number from 1 to 50")]
    );
    let long = "x".repeat(20_001);
    let found = broken(english, "Thank you", &long);
    assert!(found.iter().any(|one| one.contains("more than 20000")), "{found:?}");
}

const CASE: &str = "b200-image-bump";

/// The greeting of a case, as a server would post it.
async fn invited(case: Case) -> Result<Option<String>, String> {
    let stand_in = StandIn::start(case, Options::default()).await;
    invited_by(&stand_in).await
}

async fn invited_by(stand_in: &StandIn) -> Result<Option<String>, String> {
    let token = Some(PERSONAL_TOKEN.to_owned().into());
    let client = Arc::new(Client::with_token(&stand_in.url, token).unwrap());
    let reader = Reader::new(Arc::new(Live::new(client)));
    let rules = rules();
    let signoffs = rules.profile.reader().unwrap();
    let (repo, number) = ("SemiAnalysisAI/InferenceX".parse().unwrap(), 9101);
    invitation(&reader, &rules, &signoffs, &repo, number).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_pull_request_that_needs_a_sign_off_is_greeted_with_its_owners() {
    let case = Case::load(CASE);
    let template = case.text("base/docs/PR_REVIEW_CHECKLIST.md").unwrap();
    let template = template.split("```").nth(1).unwrap().trim().to_owned();
    let text = invited(case).await.unwrap().unwrap();
    let list = "- `configs/nvidia-master.yaml` needs one of `@nv-ada`, `@nv-tomasz`, \
                `@SemiAnalysisAI/core`\n\n";
    assert!(text.contains(list), "{text}");
    assert_eq!(shown(&text).fences, [format!("{template}\n")]);
}

#[tokio::test]
async fn a_pull_request_that_needs_none_or_cannot_have_one_is_not_greeted() {
    let case = Case::load(CASE).with(|case| {
        case.write("base/.github/CODEOWNERS", "* @SemiAnalysisAI/core\n");
    });
    assert_eq!(invited(case).await, Ok(None));
    let case = Case::load(CASE).with(|case| case.remove("base/docs/PR_REVIEW_CHECKLIST.md"));
    assert_eq!(invited(case).await, Ok(None), "there is nothing to sign with");
}

#[tokio::test]
async fn a_fault_of_ours_is_an_error_to_try_again() {
    let stand_in = StandIn::start(Case::load(CASE), Options::default()).await;
    let pattern = "GET *CODEOWNERS*".to_owned();
    stand_in.fault(Fault { pattern, status: Some(502), ..Fault::default() });
    let error = invited_by(&stand_in).await.unwrap_err();
    assert!(error.contains("502"), "{error}");
}
