-- Pull requests that were greeted, so that a greeting which somebody deleted does not come back.
create table greeting (
    repository_id integer not null,
    pull_request  integer not null,
    primary key (repository_id, pull_request)
) strict, without rowid;
