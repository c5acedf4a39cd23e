//! The two databases behind one small face: open, begin, execute, read rows.
//!
//! Statements use `$1` parameters, integers of 64 bits and text, which both take; that is why every
//! operation of the store is written once. What differs stands here, or in two constants side by side.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{Connection, PgPool, Postgres, Row as _, Sqlite, SqlitePool, Transaction};

use super::StoreError;

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// How long a statement waits for a lock that another process holds (a backup, say). Well under the
/// ten seconds after which GitHub gives a delivery up.
const BUSY: Duration = Duration::from_secs(2);
/// Getting a connection at all.
const ACQUIRE: Duration = Duration::from_secs(5);
/// SQLite takes any number of readers beside the writer.
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 8;

#[derive(Debug, Clone)]
pub(super) enum Database {
    /// One connection writes, so that writers queue in memory and never meet `SQLITE_BUSY`.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
        path: PathBuf,
    },
    Postgres(PgPool),
}

impl Database {
    pub(super) async fn open(address: &str) -> Result<Self, StoreError> {
        match address.split_once("://") {
            Some(("sqlite", path)) if path.is_empty() || path.contains(":memory:") => {
                Err(StoreError::Address("names no file".into()))
            }
            Some(("sqlite", path)) if path.contains('?') => {
                Err(StoreError::Address("has parameters behind `?`".into()))
            }
            Some(("sqlite", path)) => Self::open_sqlite(Path::new(path)).await,
            Some(("postgres" | "postgresql", _)) => Self::open_postgres(address).await,
            Some((scheme, _)) => Err(StoreError::Address(format!("begins with `{scheme}://`"))),
            None => Err(StoreError::Address("has no scheme".into())),
        }
    }

    async fn open_sqlite(path: &Path) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // In WAL mode only FULL syncs at every commit; an acknowledged delivery must survive a
            // power cut.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY);
        let mut first =
            sqlx::SqliteConnection::connect_with(&options).await.map_err(StoreError::Open)?;
        SQLITE.run(&mut first).await.map_err(migration)?;
        first.close().await.map_err(StoreError::Open)?;

        let pool =
            |size| PoolOptions::<Sqlite>::new().max_connections(size).acquire_timeout(ACQUIRE);
        let writer = pool(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            // A full disk makes SQLite end the transaction itself. The connection still counts it as
            // open then, and would begin no other: it is closed, and a new one takes its place.
            .before_acquire(|connection, _| {
                Box::pin(async move {
                    // Behind the rollback of whatever was dropped.
                    connection.ping().await?;
                    Ok(!connection.is_in_transaction())
                })
            })
            .connect_with(options)
            .await
            .map_err(StoreError::Open)?;
        let readers = pool(SQLITE_READERS).connect_lazy_with(
            SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(BUSY),
        );
        Ok(Self::Sqlite { writer, readers, path: path.to_owned() })
    }

    async fn open_postgres(address: &str) -> Result<Self, StoreError> {
        // The parser's own message can quote the address, and with it a password.
        let options: PgConnectOptions = address
            .parse()
            .map_err(|_| StoreError::Address("is not a valid postgres:// address".into()))?;
        let mut first =
            sqlx::PgConnection::connect_with(&options).await.map_err(StoreError::Open)?;
        POSTGRES.run(&mut first).await.map_err(migration)?;
        first.close().await.map_err(StoreError::Open)?;

        let pool = PoolOptions::<Postgres>::new()
            .max_connections(POSTGRES_CONNECTIONS)
            .acquire_timeout(ACQUIRE)
            .connect_with(options)
            .await
            .map_err(StoreError::Open)?;
        Ok(Self::Postgres(pool))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    /// The lock of an SQLite file's one server; `None` on PostgreSQL.
    pub(super) fn lock(&self) -> Result<Option<File>, StoreError> {
        let Self::Sqlite { path, .. } = self else { return Ok(None) };
        let mut name = path.clone().into_os_string();
        name.push("-serve");
        let failed = |error: std::io::Error| StoreError::Open(sqlx::Error::Io(error));
        let file =
            File::options().create(true).truncate(false).write(true).open(&name).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::InUse(name.to_string_lossy().into_owned()))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Begins a transaction that will write. Dropped without [`Tx::commit`], it leaves nothing.
    pub(super) async fn write(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            // A deferred transaction would find out at its first write that somebody was faster.
            Self::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("begin immediate").await?),
            Self::Postgres(pool) => Tx::Postgres(pool.begin().await?),
        })
    }

    /// Begins a transaction that only reads.
    pub(super) async fn read(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            Self::Sqlite { readers, .. } => Tx::Sqlite(readers.begin().await?),
            Self::Postgres(pool) => Tx::Postgres(pool.begin().await?),
        })
    }

    /// The statement that fits.
    pub(super) fn either(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self {
            Self::Sqlite { .. } => sqlite,
            Self::Postgres(_) => postgres,
        }
    }
}

fn migration(error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(version) => StoreError::Newer(version),
        other => StoreError::Migrate(other),
    }
}

/// A parameter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Int(i64),
    Text(Option<&'a str>),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Some(value))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Some(value))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(value: Option<&'a str>) -> Self {
        Self::Text(value)
    }
}

/// A transaction.
pub(super) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

macro_rules! bound {
    ($sql:expr, $values:expr) => {
        $values.iter().fold(sqlx::query($sql), |query, value| match value {
            Value::Int(number) => query.bind(*number),
            Value::Text(text) => query.bind(*text),
        })
    };
}

impl Tx {
    /// Runs a statement; gives the number of rows it touched.
    pub(super) async fn execute(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(tx) => bound!(sql, values).execute(&mut **tx).await?.rows_affected(),
            Self::Postgres(tx) => bound!(sql, values).execute(&mut **tx).await?.rows_affected(),
        })
    }

    /// Runs a statement; gives its rows.
    pub(super) async fn rows(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(tx) => {
                let rows = bound!(sql, values).fetch_all(&mut **tx).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(tx) => {
                let rows = bound!(sql, values).fetch_all(&mut **tx).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// The first row.
    pub(super) async fn row(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, sqlx::Error> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Returns when it is on disk.
    pub(super) async fn commit(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        }
    }
}

/// A row, read by column name.
pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    pub(super) fn int(&self, column: &str) -> Result<i64, sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }

    pub(super) fn maybe_int(&self, column: &str) -> Result<Option<i64>, sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }

    pub(super) fn text(&self, column: &str) -> Result<String, sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }

    pub(super) fn maybe_text(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn after_a_full_disk_the_next_write_works() {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite://{}", folder.path().join("queue.db").display());
        let database = Database::open(&address).await.unwrap();
        let Database::Sqlite { writer, .. } = &database else { panic!("not SQLite") };
        sqlx::query("pragma max_page_count = 30").execute(writer).await.unwrap();

        const FILL: &str =
            "insert into delivery (guid, event, repository, body_sha256, received_at)
            values (hex(randomblob(100000)), '', '', '', 0)";
        let mut tx = database.write().await.unwrap();
        let full = tx.execute(FILL, &[]).await.unwrap_err();
        assert!(full.to_string().contains("full"), "{full}");
        drop(tx);

        let mut tx = database.write().await.unwrap();
        assert_eq!(tx.execute(FILL, &[]).await.unwrap(), 1);
        tx.commit().await.unwrap();
    }
}
