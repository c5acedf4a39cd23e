# Thin recipes; each is a command that can be typed.

# Everything that CI runs.
check: fmt clippy test doc

fmt:
    cargo fmt --check

clippy:
    cargo clippy --all-targets -- -D warnings

test:
    cargo test

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# The whole way of one sign-off, against the stand-in.
demo *args:
    cargo run --example demo -- {{args}}

# A stand-in of GitHub that serves one case.
stand-in case *args:
    cargo run --example stand-in -- {{case}} {{args}}

bench:
    cargo bench

# Writes docs/rules.md and docs/facts.schema.json anew.
generate:
    UPDATE_DOCS=1 cargo test --test e2e generated
