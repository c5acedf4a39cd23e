-- Times are milliseconds since 1970 UTC; the caller gives them, no statement reads a clock.

-- Every delivery that was accepted. GitHub redelivers under the same GUID.
create table delivery (
    guid        text   not null primary key,
    event       text   not null,
    action      text,
    repository  text   not null,
    body_sha256 text   not null,
    received_at bigint not null
);
create index delivery_age on delivery (received_at);

-- Work on one pull request. A finished job is deleted; a failed one stays, with its reason.
create table job (
    id           bigint generated always as identity primary key,
    repository   text   not null,
    pull_request bigint not null,
    status       text   not null check (status in ('queued', 'running', 'failed')),
    triggers     text   not null,
    attempts     bigint not null default 0,
    claim        bigint not null default 0,
    run_at       bigint not null,
    lease_until  bigint,
    progress     text,
    why          text
);
-- At most one waits and at most one runs, a pull request.
create unique index job_queued  on job (repository, pull_request) where status = 'queued';
create unique index job_running on job (repository, pull_request) where status = 'running';
create index job_due on job (run_at, id) where status = 'queued';

-- The last number handed out for a commit, for the check run's external id.
create table verification (
    repository_id bigint not null,
    pull_request  bigint not null,
    commit_sha    text   not null,
    last          bigint not null,
    primary key (repository_id, pull_request, commit_sha)
);

-- Every verdict, in order. The same id can come again when the evidence comes to be the same again.
create table verdict (
    seq          bigint generated always as identity primary key,
    id           text   not null,
    repository   text   not null,
    private      bigint not null check (private in (0, 1)),
    pull_request bigint not null,
    signoff      text   not null,
    commit_sha   text   not null,
    outcome      text   not null,
    json         text   not null,
    created_at   bigint not null
);
create index verdict_id      on verdict (id);
create index verdict_signoff on verdict (repository, pull_request, signoff, seq);
