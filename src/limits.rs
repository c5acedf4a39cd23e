//! Every bound in one place, each with its reason.
//!
//! Sizes are bytes unless a name says otherwise.

use percent_encoding::{AsciiSet, CONTROLS};

/// A comment or review body; GitHub caps them at 65,536 characters, of at most 4 bytes each.
pub const BODY_BYTES: usize = 4 * 65_536;
/// A comment that we post (GitHub's own cap, in characters).
pub const COMMENT_CHARS: usize = 65_536;
/// Summary and text of a check run, each (GitHub's OpenAPI description).
pub const CHECK_TEXT_CHARS: usize = 65_535;
/// Annotations in one check run request (GitHub's OpenAPI description).
pub const ANNOTATIONS_PER_REQUEST: usize = 50;
/// Annotations that we make at all: past this nobody reads them.
pub const ANNOTATIONS: usize = 200;
/// Description of a commit status (GitHub's OpenAPI description).
pub const STATUS_CHARS: usize = 140;
/// A quote in evidence (contract of the verdict's JSON).
pub const QUOTE_CHARS: usize = 200;
/// The words by which a row names a checklist item; the whole text stands in the line to paste.
pub const LABEL_CHARS: usize = 80;
/// One value interpolated into a text; longer ones are cut in the middle of a row.
pub const VALUE_CHARS: usize = 300;
/// One message or fix as a whole.
pub const MESSAGE_CHARS: usize = 2_000;
/// One checklist item's text; the longest real one has 1,100 characters.
pub const ITEM_CHARS: usize = 4_000;
/// Items read from one sign-off or template.
pub const ITEMS: usize = 500;
/// Links read from one sign-off.
pub const LINKS: usize = 2_000;
/// One link; a longer one is left out rather than cut, since a cut link is another link.
pub const URL_BYTES: usize = 2_048;
/// Command lines read from one comment, and of one account on one pull request.
pub const COMMANDS: usize = 500;
/// What did not count, kept of one pull request: the newest of it.
pub const DISCARDED: usize = 200;
/// See [`DISCARDED`]: what one account writes must not keep anybody else's from being seen.
pub const DISCARDED_OF_ONE: usize = 20;
/// A checklist document.
pub const DOCUMENT_BYTES: usize = 1 << 20;
/// One YAML file of the benchmark repository; the largest real one has 0.6 MB.
pub const YAML_BYTES: usize = 8 << 20;
/// Nodes of such a file, each alias counted as what it stands for; the largest real one has 60,000.
pub const YAML_NODES: usize = 200_000;
/// Nesting of such a file; real ones have ten levels.
pub const YAML_DEPTH: usize = 100;
/// Bytes of all scalars of such a file, each alias counted as what it stands for.
pub const YAML_SCALAR_BYTES: usize = 16 << 20;
/// Globs that the wildcard patterns of a CODEOWNERS file may come to; real ones have some tens.
pub const CODEOWNERS_GLOBS: usize = 5_000;
/// A container image's manifest; registries take at most 4 MiB (OCI distribution specification).
pub const MANIFEST_BYTES: usize = 4 << 20;
/// Images of which the registries are asked for one verdict; real pull requests have ten at most.
pub const IMAGES: usize = 50;
/// Launches that one recipe file may describe; real ones have some tens.
pub const RECIPE_VARIANTS: usize = 4096;
/// Entries read of one changelog; the real one has 700.
pub const CHANGELOG_ENTRIES: usize = 20_000;
/// Points that one master configuration may come to; the largest real one has 1,600.
pub const MATRIX_POINTS: usize = 50_000;
/// Rows read of one table of the document of models; the real ones have some tens.
pub const MODEL_ROWS: usize = 2_000;
/// One script; the longest real one has 90 KB.
pub const SCRIPT_BYTES: usize = 1 << 20;
/// Nesting of a script's syntax; real ones have some tens of levels.
pub const SCRIPT_DEPTH: usize = 200;
/// Commands read of one script; the longest real one has 900.
pub const SCRIPT_COMMANDS: usize = 20_000;
/// One word of a script, with what its variables stand for.
pub const WORD_BYTES: usize = 16 << 10;
/// Scripts and patches that are scanned for one verdict.
pub const SCANNED_FILES: usize = 500;
/// Waivers that are read; the repository has some tens.
pub const WAIVERS: usize = 300;
/// Launches that are resolved for one verdict; real pull requests have some hundreds at most.
pub const LAUNCHES: usize = 2_000;
/// Nesting of an override of a checkpoint's configuration; real ones have three levels.
pub const OVERRIDE_DEPTH: usize = 20;
/// Entries for the same model and hardware that are named of one entry.
pub const SIBLINGS: usize = 20;
/// Problems kept of one file of the benchmark repository; past this nobody reads them.
pub const PROBLEMS: usize = 200;
/// GitHub ignores CODEOWNERS files over 3 MB.
pub const CODEOWNERS_BYTES: usize = 3_000_000;
/// One expression or text of a rule; the longest of ours has 500. The syntax tree of an expression can be
/// as deep as it is long, and is walked by recursion.
pub const EXPRESSION_BYTES: usize = 1_000;
/// One rule or table file.
pub const RULE_FILE_BYTES: usize = 1 << 20;
/// Steps of one rule expression before it is stopped.
pub const RULE_FUEL: u64 = 200_000;
/// A compiled pattern of a profile.
pub const PATTERN_BYTES: usize = 1 << 20;
/// Elements that one `each` goes over, over all its loops.
pub const RULE_ELEMENTS: usize = 50_000;
/// Findings kept in one row; the rest is counted.
pub const FINDINGS: usize = 200;

/// A webhook body (GitHub's own cap).
pub const WEBHOOK_BYTES: usize = 25 << 20;
/// Reading a request's headers, in seconds: a slow socket must not hold a connection.
pub const HEADER_SECONDS: u64 = 10;
/// Answering a request, in seconds; GitHub gives up after 10.
pub const REQUEST_SECONDS: u64 = 10;

/// Bytes of webhook bodies held at once, over all requests: a handful of the largest, thousands of
/// the usual ones. Past it the answer is 503.
pub const WEBHOOK_BYTES_AT_ONCE: usize = 256 << 20;
/// Connections held at once; idle ones go after [`HEADER_SECONDS`].
pub const CONNECTIONS: usize = 16_384;
/// A delivery's GUID, event or action; GitHub's have up to 40 bytes.
pub const DELIVERY_NAME_BYTES: usize = 100;
/// Seconds that requests and jobs in flight get when the server is asked to stop; what is left then
/// is taken up by the next start.
pub const SHUTDOWN_SECONDS: u64 = 20;
/// The configuration file, or a file that holds one secret.
pub const CONFIG_BYTES: u64 = 1 << 20;

/// One reply of an API, decoded.
pub const REPLY_BYTES: usize = 64 << 20;
/// Items in one page (GitHub's maximum).
pub const PAGE_ITEMS: usize = 100;
/// Pages of one list: 3,000 files, 10,000 comments are beyond what a verdict can rest on.
pub const PAGES: usize = 100;
/// Changed files that GitHub lists for a pull request; past it the list is known to be cut.
pub const PULL_FILES: usize = 3_000;
/// Files that one comparison lists (GitHub's own cap).
pub const COMPARE_FILES: usize = 300;
/// Commits that GitHub lists for a pull request; past it the list is known to be cut.
pub const PULL_COMMITS: usize = 250;
/// Seconds for one request to GitHub, connection included.
pub const API_SECONDS: u64 = 30;
/// Tries of one read before its error stands.
pub const READ_TRIES: usize = 3;
/// Requests in flight at once; GitHub allows 100 over all of an installation's clients.
pub const CONCURRENT_READS: usize = 40;
/// Requests of the hourly budget that reads leave for publishing.
pub const BUDGET_RESERVE: u64 = 100;
/// Bytes that the cache of replies may hold.
pub const CACHE_BYTES: u64 = 256 << 20;

/// Tries of one job before it is concluded as UNDECIDED for good.
pub const JOB_TRIES: i64 = 8;
/// Seconds that a job waits at most because GitHub said so; its limits are reset every hour, and a
/// header that says more is not believed.
pub const JOB_PAUSE_SECONDS: i64 = 2 * 3_600;
/// Starts of one job before it is set aside whatever its work says: [`JOB_TRIES`] to conclude it, the
/// rest to publish that while GitHub is down.
pub const JOB_STARTS: i64 = 50;
/// Days that deliveries and given-up jobs are kept. GitHub redelivers for three.
pub const DELIVERY_DAYS: i64 = 30;
/// Seconds that a worker may hold a job before another takes it up.
pub const JOB_LEASE_SECONDS: i64 = 300;

/// What is escaped in a path inside a URL: everything but the separators and unreserved characters.
pub const PATH_ESCAPES: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'|')
    .add(b'(')
    .add(b')')
    .add(b'@')
    .add(b'&')
    .add(b'+')
    .add(b'*')
    .add(b'\'');

/// One JSON file of a benchmark artifact; all rows of a full sweep come to some MB.
pub const JSON_BYTES: usize = 64 << 20;
/// Values and keys of such a file; a full sweep has some 100,000.
pub const JSON_NODES: usize = 1_000_000;
/// Nesting of such a file; real ones have ten levels.
pub const JSON_DEPTH: usize = 100;
/// One key of such a file: pointers are made of them.
pub const JSON_KEY_BYTES: usize = 2_000;
/// Notes kept of such a file; past this nobody reads them.
pub const JSON_NOTES: usize = 200;
/// Characters of one number; Python reads integers of at most 4,300 digits.
pub const NUMBER_CHARS: usize = 4_300;
/// Rows read of one file of results or evaluations; a full sweep has some thousands.
pub const RESULT_ROWS: usize = 50_000;
/// Tasks of one file of raw evaluations; the largest suites have some hundreds.
pub const EVAL_TASKS: usize = 2_000;
/// Fields that are named as missing or wrong, of one row.
pub const ROW_LACKS: usize = 100;
/// Draft lengths of one golden curve; real ones have eight.
pub const DRAFT_TOKENS: i64 = 1_000;

/// Different selections of configurations that one pull request adds to the changelog; the largest real
/// ones add some thirty entries.
pub const CHANGELOG_SELECTIONS: usize = 200;

/// Different environments with which one script is walked; past this every branch of it counts.
pub const ENVIRONMENTS: usize = 64;

/// Scripts in the words of a command, inside one another.
pub const SHELL_DEPTH: usize = 3;

/// One line of a log, and one dump joined from several: the largest real dumps have 16 KB.
pub const LOG_LINE_BYTES: usize = 256 << 10;
/// Physical lines of one wrapped dump.
pub const LOG_WRAPPED_LINES: usize = 64;
/// Texts of interest that are read of one line.
pub const LOG_LINE_HITS: usize = 16;
/// Nesting of a printed value; real ones have six levels.
pub const REPR_DEPTH: usize = 40;
/// Launches, loads and things not known that are kept of one log.
pub const LOG_ITEMS: usize = 200;
/// Variables of one environment.
pub const LOG_VARIABLES: usize = 1_000;
/// Processes whose counts are followed apart from one another.
pub const LOG_PROCESSES: usize = 4_096;
/// Bytes at the head of a line in which prefixes are looked for.
pub const LOG_PREFIX_BYTES: usize = 1_024;
/// Prefixes before one record; real ones have four.
pub const LOG_PREFIXES: usize = 32;
