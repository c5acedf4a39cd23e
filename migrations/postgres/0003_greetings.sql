-- Pull requests that were greeted, so that a greeting which somebody deleted does not come back.
create table greeting (
    repository_id bigint not null,
    pull_request  bigint not null,
    primary key (repository_id, pull_request)
);
