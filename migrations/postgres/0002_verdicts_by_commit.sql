-- What was assessed at a commit is asked for whenever something finishes there.
create index verdict_commit on verdict (repository, commit_sha);
